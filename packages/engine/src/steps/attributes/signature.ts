import { plainValue } from '../../source.ts'
import type { SourceEntry } from '../../source.ts'
import { readAttributes } from '../read-attributes.ts'
import type { Attributes } from '../read-attributes.ts'
import type { Report } from '../report.ts'
import type { Signature, SignedAttributes } from '../types.ts'
import { isNull, readName, readTexts, wrong } from '../values.ts'

type Signed = Attributes<'signature' | 'matrix' | 'checkout' | 'secrets'>

/** Kept as it was sent, with the values it is about; only the agent that runs the job verifies it. */
export function readSignature(step: Signed, report: Report): Signature | null {
  const entry = step.get('signature')
  if (!entry || isNull(entry.value)) return null
  if (entry.value.kind !== 'map') {
    wrong(entry, 'a map with `algorithm`, `signed_fields` and `value`', report)
    return null
  }
  const attributes = readAttributes(
    entry.value,
    { owner: '`signature`', names: ['algorithm', 'signed_fields', 'value'] },
    report,
  )
  const algorithm = readName(attributes.get('algorithm'), report)
  const value = readName(attributes.get('value'), report)
  const signedFields = readTexts(attributes.get('signed_fields'), report)
  if (algorithm === null || value === null || !signedFields) {
    report.problem(entry, '`signature` needs `algorithm`, `signed_fields` and `value`')
    return null
  }
  return { algorithm, signedFields, value, asWritten: readSignedAttributes(step) }
}

function readSignedAttributes(step: Signed): SignedAttributes {
  const [matrix, checkout, secrets] = (['matrix', 'checkout', 'secrets'] as const).map((name) => {
    const entry = step.get(name)
    return entry && !isNull(entry.value) ? entry : undefined
  })
  return {
    ...(matrix ? { matrix: plainValue(matrix.value) } : {}),
    ...(checkout ? { checkout: plainValue(checkout.value) } : {}),
    ...(secrets ? { secrets: listSecrets(secrets) } : {}),
  }
}

/** A map becomes a list, because storage does not keep the order of a map's keys. */
function listSecrets({ value }: SourceEntry): Record<string, unknown>[] {
  const long = (key: unknown, variable: unknown) => ({ key, environment_variable: variable })
  if (value.kind === 'map') return value.entries.map((entry) => long(plainValue(entry.value), entry.key))
  if (value.kind === 'scalar') return []
  return value.items.map((item) => {
    const written = plainValue(item)
    return typeof written === 'object' && written !== null ? { ...written } : long(written, written)
  })
}
