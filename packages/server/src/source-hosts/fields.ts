// The fields that deliveries of several hosts have in common, as schemas.
import { Type, type Static, type TSchema } from 'typebox'
import { checker } from '../lib/check.ts'
import { badRequest } from '../lib/errors.ts'
import { ignored, type Author, type Ignored } from './events.ts'

/** The rules of git, and nothing that git could take for an option. */
const refPattern =
  '^(?![-/.])(?!.*(?:\\.\\.|//|/\\.|@\\{|\\.lock/))[^\\x00-\\x20\\x7f~^:?*\\[\\\\]+(?<![/.]|\\.lock)$'
const longestRef = 400
export const RefName = Type.String({
  minLength: 1,
  maxLength: longestRef,
  pattern: refPattern,
  description: 'must be the name of a branch or tag',
})

export const Commit = Type.String({
  pattern: '^[0-9a-f]{40}([0-9a-f]{24})?$',
  description: 'must be a commit in full',
})

export const Text = Type.String()
/** For names, titles and addresses, which are stored as they are. */
export const Short = Type.String({ maxLength: 2000 })
export const maybe = <T extends TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]))
export const Number = Type.Integer({ minimum: 0, maximum: globalThis.Number.MAX_SAFE_INTEGER })

/** Throws 400, naming the field that is wrong. */
export function reader<S extends TSchema>(schema: S): (payload: object) => Static<S> {
  const check = checker(schema)
  return (payload) => {
    const read = check(payload)
    if (!read.ok) throw badRequest(`The payload cannot be understood: ${read.reason}.`)
    return read.value
  }
}

const longestMessage = 65_536
const longestName = 500
const mostLabels = 100
const longestLabel = 255

/** Never leaves half of a surrogate pair. */
const cut = (text: string, length: number): string =>
  text.length <= length
    ? text
    : text
        .slice(0, length)
        .toWellFormed()
        .replace(/\uFFFD$/, '')

export const cutMessage = (text: string | null | undefined): string | null =>
  text ? cut(text, longestMessage) : null

export const authorOf = (name: string | null | undefined, email: string | null | undefined): Author | null =>
  name || email
    ? { name: name ? cut(name, longestName) : null, email: email ? cut(email, longestName) : null }
    : null

export const cutLabels = (labels: readonly string[]): string[] =>
  labels.slice(0, mostLabels).map((label) => cut(label, longestLabel))

/** `refs/heads/main` to a branch, `refs/tags/v1` to a tag; null for anything else. */
export function readRef(ref: string): { ref: 'branch' | 'tag'; name: string } | null {
  const match = /^refs\/(heads|tags)\/(.+)$/s.exec(ref)
  if (match === null) return null
  const [, where, name = ''] = match
  return { ref: where === 'tags' ? 'tag' : 'branch', name: checkRefName(name) }
}

const RefHolder = Type.Object({ ref: RefName })
const readHolder = reader(RefHolder)
export const checkRefName = (name: string): string => readHolder({ ref: name }).ref

export const isRefName = (name: string): boolean =>
  name.length <= longestRef && new RegExp(refPattern).test(name)

export const unknownRef = (ref: string): Ignored =>
  ignored(`The ref ${ref.slice(0, 200)} is neither branch nor tag.`)

export const isZero = (commit: string): boolean => /^0+$/.test(commit)

/** Where a ref was before a push; null: it did not exist, or the sender does not say. */
export const beforeOf = (commit: string | null | undefined): string | null =>
  commit && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(commit) && !isZero(commit) ? commit : null
