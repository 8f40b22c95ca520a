// Reads signing keys from files with a JSON Web Key Set.

import { readFile } from 'node:fs/promises'
import type { JWK } from 'jose'
import { isMap } from '../json-map.ts'

/** One strong asymmetric algorithm per key type. */
const ALGORITHMS: Readonly<Record<string, string>> = { OKP: 'EdDSA', EC: 'ES512', RSA: 'PS512' }

export type SignatureKey = JWK & { kid: string; alg: string }

export const SIGNATURE_ALGORITHMS: readonly string[] = Object.values(ALGORITHMS)

/** Throws an error that names the file. */
export async function readKeys(file: string): Promise<SignatureKey[]> {
  const text = await readFile(file, 'utf8').catch(() => {
    throw new Error(`The keys in ${file} cannot be read.`)
  })
  let set: unknown
  try {
    set = JSON.parse(text)
  } catch {
    throw new Error(`${file} is no JSON.`)
  }
  const keys: unknown[] = isMap(set) && Array.isArray(set['keys']) ? set['keys'] : [set]
  if (keys.length === 0) throw new Error(`${file} holds no keys.`)
  return keys.map((key) => checkKey(file, key))
}

/** The key with this id, or the only key. */
export async function readSigningKey(file: string, keyId: string): Promise<SignatureKey> {
  const keys = await readKeys(file)
  const [only] = keys
  if (keyId === '' && keys.length > 1)
    throw new Error(`${file} holds several keys: name the one to sign with.`)
  const key = keyId === '' ? only : keys.find(({ kid }) => kid === keyId)
  if (key === undefined) throw new Error(`${file} holds no key ${keyId}.`)
  if (key.d === undefined) throw new Error(`The key ${key.kid} in ${file} is public: it cannot sign.`)
  return key
}

function checkKey(file: string, key: unknown): SignatureKey {
  if (!isMap(key) || typeof key['kid'] !== 'string' || typeof key['kty'] !== 'string')
    throw new Error(`${file} holds something that is no key with \`kty\` and \`kid\`.`)
  const { kid, kty, alg } = key as { kid: string; kty: string; alg: unknown }
  const algorithm = Object.hasOwn(ALGORITHMS, kty) ? ALGORITHMS[kty] : undefined
  if (algorithm === undefined || alg !== algorithm) {
    const known = Object.entries(ALGORITHMS).map(([type, name]) => `${name} with ${type}`)
    throw new Error(
      `The key ${kid} in ${file} is for ${String(alg)} with ${kty}; it must be ${known.join(', ')}.`,
    )
  }
  return { ...key, kid, alg: algorithm }
}
