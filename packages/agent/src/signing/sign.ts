// Signs and verifies steps with a detached JSON Web Signature over the canonical form of the signed values.

import { CompactSign, compactVerify, importJWK } from 'jose'
import type { JobSignature } from '@millrace/protocol/jobs.ts'
import { canonicalJson } from './canonical-json.ts'
import { isMap, type JsonMap } from '../json-map.ts'
import { SIGNATURE_ALGORITHMS, type SignatureKey } from './keys.ts'
import { findSignedValues, listSignedValues, type SignedValues, type Surroundings } from './signed-values.ts'

export async function signStep(
  step: JsonMap,
  surroundings: Surroundings,
  key: SignatureKey,
): Promise<JobSignature> {
  const values = listSignedValues(step, surroundings)
  const jws = await new CompactSign(payloadOf(key.alg, values))
    .setProtectedHeader({ alg: key.alg, kid: key.kid })
    .sign(await importJWK(key, key.alg))
  const [header, , signature] = jws.split('.')
  return {
    algorithm: key.alg,
    signed_fields: Object.keys(values).toSorted(),
    value: `${header}..${signature}`,
  }
}

/** Null if the signature is valid; otherwise the reason. */
export async function findSignatureFault(
  step: JsonMap,
  signature: JobSignature,
  surroundings: Surroundings,
  keys: readonly SignatureKey[],
): Promise<string | null> {
  const values = findSignedValues(step, surroundings, signature.signed_fields)
  if (typeof values === 'string') return values
  const [header = '', detached, proof = '', ...rest] = signature.value.split('.')
  if (detached !== '' || rest.length > 0) return 'the signature is not a detached one'
  const key = keys.find(({ kid, alg }) => kid === keyIdIn(header) && alg === signature.algorithm)
  if (key === undefined) return 'the signature is by a key that this agent does not have'
  const payload = Buffer.from(payloadOf(signature.algorithm, values)).toString('base64url')
  try {
    const options = { algorithms: [...SIGNATURE_ALGORITHMS] }
    const { protectedHeader } = await compactVerify(
      `${header}.${payload}.${proof}`,
      await importJWK(publicPart(key), key.alg),
      options,
    )
    return protectedHeader.alg === key.alg ? null : 'the signature is by another algorithm than it says'
  } catch {
    return 'the signature does not fit the step'
  }
}

function payloadOf(algorithm: string, values: SignedValues): Uint8Array {
  return new TextEncoder().encode(canonicalJson({ alg: algorithm, values }))
}

function keyIdIn(header: string): string | null {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(header, 'base64url').toString())
    return isMap(parsed) && typeof parsed['kid'] === 'string' ? parsed['kid'] : null
  } catch {
    return null
  }
}

/** The verification file may contain the private key. */
function publicPart({ kty, crv, x, y, n, e }: SignatureKey): JsonMap & { kty: string } {
  const parts = { kty, crv, x, y, n, e }
  return Object.fromEntries(
    Object.entries(parts).filter(([, value]) => value !== undefined),
  ) as typeof parts & {
    kty: string
  }
}
