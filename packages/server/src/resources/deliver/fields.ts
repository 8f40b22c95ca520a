// The fields that webhook deliveries have in common, as schemas. Whatever is not named here is not looked at.
import { Type, type Static, type TSchema } from 'typebox'
import { checker } from '../../lib/check.ts'
import { badRequest } from '../../lib/errors.ts'
import type { Nothing } from './event.ts'

/** Names of branches and tags, as git allows them (and then some); none can be taken for an option. */
const refPattern = '^(?!-)[^\\x00-\\x20\\x7f~^:?*\\[\\\\]+$'
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
/** Names, titles and addresses: what is kept as it comes. */
export const Short = Type.String({ maxLength: 2000 })
export const maybe = <T extends TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]))
export const Number = Type.Integer({ minimum: 0, maximum: globalThis.Number.MAX_SAFE_INTEGER })

/** Throws what the payload lacks, as 400. */
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

/** Text of any length, cut without leaving half a character. */
export const cut = (text: string, length: number): string =>
  text.length <= length
    ? text
    : text
        .slice(0, length)
        .toWellFormed()
        .replace(/\uFFFD$/, '')

export const cutMessage = (text: string | null | undefined): string | null =>
  text ? cut(text, longestMessage) : null

export const authorOf = (
  name: string | null | undefined,
  email: string | null | undefined,
): { name: string | null; email: string | null } | null =>
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

export const strangeRef = (ref: string): Nothing => ({
  kind: 'nothing',
  why: `The ref ${ref.slice(0, 200)} is neither branch nor tag.`,
})

export const isZero = (commit: string): boolean => /^0+$/.test(commit)
