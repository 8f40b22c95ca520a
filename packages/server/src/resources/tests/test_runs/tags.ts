// Tags of executions, as senders give them: an object of short texts, for a whole upload or for one result.
import { clean } from './clean.ts'

export type Tags = Record<string, string>

/** Of one execution. Further ones are ignored. */
const mostTags = 20
const longestName = 50
const longestValue = 255

/** Names that begin so are set by `PUT …/execution-tags` alone. */
const setAfterwards = 'mut.'

/** Ignores names and values that are no tags. Null: there is none. */
export function readTags(given: unknown): Tags | null {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return null
  const tags: Array<[string, string]> = []
  for (const [name, value] of Object.entries(given) as Array<[string, unknown]>) {
    if (tags.length === mostTags) break
    const isText = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    if (!isText || name.length > longestName || name.startsWith(setAfterwards)) continue
    const cleanName = clean(name, longestName)
    if (cleanName.trim() !== '') tags.push([cleanName, clean(String(value), longestValue)])
  }
  return tags.length === 0 ? null : Object.fromEntries(tags)
}

/** Those of the result come first, and take the place of those of the upload. */
export function mergeTags(own: Tags | null, ofUpload: Tags | null): Tags | null {
  if (own === null || ofUpload === null) return own ?? ofUpload
  const added = Object.entries(ofUpload).filter(([name]) => !Object.hasOwn(own, name))
  return Object.fromEntries([...Object.entries(own), ...added].slice(0, mostTags))
}
