import { describeNode, type SourceNode } from '@millrace/engine/source.ts'
import { parseSource } from '@millrace/engine/yaml.ts'
import { refused, validationFailed } from '../../../lib/errors.ts'
import type { SecretFields } from './queries.ts'
import type { UpdateSecretBody } from './schema.ts'

const mostPolicyBytes = 50_000
const tooManyValueBytes = 8 * 1024

const claims = [
  'pipeline_id',
  'pipeline_slug',
  'build_source',
  'build_branch',
  'build_creator',
  'build_creator_team',
  'cluster_queue_id',
  'cluster_queue_key',
] as const

/** The facts about a job that policies compare. A claim may have several values, or none. */
export type Claims = Readonly<Record<(typeof claims)[number], readonly string[]>>

/** The fields that a body sets, as columns, except the key and the value. */
export function readFields(body: UpdateSecretBody): Partial<SecretFields> {
  return {
    ...(body.description === undefined ? {} : { description: body.description ?? '' }),
    ...(body.policy === undefined ? {} : { policy: readPolicy(body.policy ?? '') }),
  }
}

/** An update must not name the key or the value, not even unchanged. */
export function refuseKeyAndValue(body: object): void {
  if ('key' in body) throw refused('The key parameter cannot be updated.')
  if ('value' in body) throw refused('The value parameter cannot be updated on this endpoint.')
}

export function readValue(value: string): string {
  if (Buffer.byteLength(value) >= tooManyValueBytes) {
    throw validationFailed(`value must be smaller than ${tooManyValueBytes} bytes`)
  }
  return value
}

/** A policy is a list of rules; a rule maps known claims to a text or a list of texts. Blank: no policy. */
function readPolicy(text: string): string {
  if (text.trim() === '') return ''
  const parsed = parseSource(text, mostPolicyBytes)
  if (!parsed.ok) throw wrong(parsed.problem.message, parsed.problem.line)
  const [document, second] = parsed.documents
  if (second !== undefined) throw wrong('it has more than one document', second.line)
  if (document?.kind !== 'list' || document.items.length === 0) throw wrong('it must be a list of rules', 1)
  document.items.forEach(checkRule)
  return text
}

/** Whether a job with these claims may read the secret: it must meet every claim of one rule. */
export function permits(policy: string, claimed: Claims): boolean {
  if (policy === '') return true
  const parsed = parseSource(policy, mostPolicyBytes)
  const document = parsed.ok ? parsed.documents[0] : undefined
  if (document?.kind !== 'list') return false
  return document.items.some(
    (rule) =>
      rule.kind === 'map' &&
      rule.entries.every(({ key, value }) => {
        const wanted = new Set((value.kind === 'list' ? value.items : [value]).map(textOf))
        const own = claims.find((claim) => claim === key)
        return own !== undefined && claimed[own].some((text) => wanted.has(text))
      }),
  )
}

const textOf = (node: SourceNode): string | null => (node.kind === 'scalar' ? node.text : null)

function checkRule(rule: SourceNode): void {
  if (rule.kind !== 'map' || rule.entries.length === 0) {
    throw wrong(`a rule must be a map of claims, not ${describeNode(rule)}`, rule.line)
  }
  for (const { key, value, line } of rule.entries) {
    if (!claims.some((claim) => claim === key)) {
      throw wrong(`"${key.slice(0, 60)}" is not a claim; claims are ${claims.join(', ')}`, line)
    }
    const wanted = value.kind === 'list' ? value.items : [value]
    if (wanted.length === 0 || !wanted.every(isText))
      throw wrong(`${key} must be a text or a list of texts`, line)
  }
}

/** Numbers count as texts, because people write a branch called 1.0 without quotes. */
const isText = (node: SourceNode): boolean =>
  node.kind === 'scalar' && node.value !== null && node.text !== ''

const wrong = (what: string, line: number) => validationFailed(`policy, line ${line}: ${what}`)
