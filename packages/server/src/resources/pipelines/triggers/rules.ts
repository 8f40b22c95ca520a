// What the fields of a trigger may be, and the build that a payload asks for.
import { findAt, isJsonPointer, textAt } from '@millrace/engine/conditions/json-pointer.ts'
import { checkCondition } from '@millrace/engine/conditions/check.ts'
import { invalidFields, refused, type FieldError } from '../../../lib/errors.ts'
import { badVariableNames } from '../variable-names.ts'
import type { TriggerFields } from './queries.ts'
import { longestBranch, longestMessage, type MappedValue, type UpdateTriggerBody } from './schema.ts'

const defaultHeaders = { hmac_sha256: 'X-Millrace-Signature', token: 'Authorization' }

/** The new fields of a trigger. Throws one error for all that are wrong. */
export function mergeFields(before: TriggerFields, body: UpdateTriggerBody): TriggerFields {
  const signature = body.signature ?? before.signature
  const isOfSameKind = signature === before.signature
  const keptHeader = body.signature_header === undefined && isOfSameKind ? before.signature_header : null
  const after: TriggerFields = {
    name: body.name?.trim() ?? before.name,
    enabled: body.enabled ?? before.enabled,
    branch: body.branch === undefined ? before.branch : body.branch,
    commit: body.commit === undefined ? before.commit : body.commit,
    message: body.message === undefined ? before.message : body.message,
    env: body.env === undefined ? before.env : (body.env ?? {}),
    condition: body.condition === undefined ? before.condition : body.condition?.trim() || null,
    signature,
    signature_header:
      signature === 'none' ? null : (body.signature_header ?? keptHeader ?? defaultHeaders[signature]),
  }
  const errors = problemsOf(after)
  if (signature === 'none' && body.secret !== undefined) {
    errors.push({ field: 'secret', code: 'needs a signature of the kind hmac_sha256 or token' })
  }
  if (errors.length > 0) throw invalidFields(errors.slice(0, 100))
  return after
}

function problemsOf({ branch, commit, message, env, condition }: TriggerFields): FieldError[] {
  const named = Object.entries(env).map(([name, value]) => [`env.${name.slice(0, 60)}`, value] as const)
  const values = [['branch', branch], ['commit', commit], ['message', message], ...named] as const
  const errors = values.flatMap(([field, value]) => {
    const code = value === null ? null : problemOf(value)
    return code === null ? [] : [{ field, code }]
  })
  const judged = condition === null ? null : checkCondition(condition, 'trigger')
  const unclear = judged?.ok === false ? [{ field: 'condition', code: judged.message }] : []
  return [...errors, ...badVariableNames(env), ...unclear]
}

function problemOf({ pointer, text, default: fallback }: MappedValue): string | null {
  if ((pointer === undefined) === (text === undefined)) return 'must have either a pointer or a text'
  if (text !== undefined && fallback !== undefined) return 'must not have a default beside a text'
  if (pointer === undefined || isJsonPointer(pointer)) return null
  return 'must have a JSON pointer that begins with a slash, such as /ref'
}

export interface MappedBuild {
  branch: string
  commit: string
  message: string
  env: Record<string, string>
}

/** Throws 422 where the payload lacks something. */
export function mapPayload(
  trigger: Pick<TriggerFields, 'name' | 'branch' | 'commit' | 'message' | 'env'>,
  defaultBranch: string,
  payload: object,
): MappedBuild {
  const read = (field: string, value: MappedValue | null, usual: string) =>
    value === null ? usual : readValue(field, value, payload)
  const branch = read('branch', trigger.branch, defaultBranch).replace(/^refs\/heads\//, '')
  const commit = read('commit', trigger.commit, 'HEAD')
  const message = read('message', trigger.message, trigger.name)
  for (const [field, text] of [
    ['branch', branch],
    ['commit', commit],
  ] as const) {
    if (text.trim() === '') throw refused(`The ${field} is blank.`)
    if (text.length > longestBranch) throw refused(`The ${field} has more than ${longestBranch} characters.`)
  }
  const env = Object.entries(trigger.env).map(([name, value]) => [
    name,
    readValue(`variable ${name}`, value, payload),
  ])
  return {
    branch,
    commit,
    message: message.slice(0, longestMessage).toWellFormed(),
    env: Object.fromEntries(env),
  }
}

const longestValue = 65_536

function readValue(
  field: string,
  { pointer, text, default: fallback }: MappedValue,
  payload: object,
): string {
  if (pointer === undefined) return text ?? ''
  const found = findAt(payload, pointer)
  if (found === undefined || found === null) {
    if (fallback !== undefined) return fallback
    throw refused(`The payload has nothing at ${pointer} for the ${field}, and there is no default.`)
  }
  const value = textAt(payload, pointer)
  if (value === null) {
    const kind = Array.isArray(found) ? 'a list' : 'an object'
    throw refused(`The payload has ${kind} at ${pointer}, which cannot be the ${field}.`)
  }
  if (field !== 'message' && value.length > longestValue) {
    throw refused(`The payload has more than ${longestValue} characters at ${pointer} for the ${field}.`)
  }
  return value
}
