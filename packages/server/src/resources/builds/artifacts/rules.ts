// Paths, states and search patterns of artifacts. A path is only a label that a job gave a file; the server never opens it.
import { badRequest, refused } from '../../../lib/errors.ts'
import { artifactStates, type ArtifactState } from './schema.ts'

/** Returns the problem of a path, or null. Clients may use it as a path below their download folder. */
export function pathProblem(path: string): string | null {
  if (path === '' || path.length > 4096) return 'must have 1 to 4096 characters'
  if (/^([/\\]|[A-Za-z]:)/.test(path)) return 'must be relative'
  if (path.split(/[/\\]/).includes('..')) return 'must not lead upwards'
  return null
}

export const filenameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

export const dirnameOf = (path: string): string =>
  path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '.'

/** Spec, List artifacts: 422 when the value is unknown. */
export function readState(given: string | undefined): ArtifactState | null {
  if (given === undefined) return null
  const state = artifactStates.find((known) => known === given)
  if (state !== undefined) return state
  throw refused(`Unknown state "${given.slice(0, 100)}"; accepted are ${artifactStates.join(', ')}.`)
}

/** Each wildcard makes the database's match slower. */
const mostWildcards = 50

/**
 * Translates an agent's search pattern into a PostgreSQL regular expression. `*` and `**` match any text, including slashes;
 * `**` followed by a slash also matches no directory at all. `?` is one character, `[ab]` one of a set, `{a,b}` one of several
 * texts.
 */
export function searchPattern(query: string): string {
  const tokens = query.replace(/^(\.\/)+/, '').matchAll(/(?:\*{2,}\/)+|\*+|\[([!^]?)([^\]/[\\]+)\]|./gsu)
  let pattern = ''
  let depth = 0
  let wildcards = 0
  for (const [token, not = '', set] of tokens) {
    if (/^[*?[{]/.test(token) && ++wildcards > mostWildcards)
      throw badRequest(`The search pattern may have at most ${mostWildcards} wildcards.`)
    if (set !== undefined) pattern += `[${not && '^'}${characterSet(set)}]`
    else if (token.startsWith('**') && token.endsWith('/')) pattern += '(.*/)?'
    else if (token.startsWith('*')) pattern += '.*'
    else if (token === '?') pattern += '[^/]'
    else if (token === '{') pattern += '('
    else if (token === '}' && depth > 0) pattern += ')'
    else if (token === ',' && depth > 0) pattern += '|'
    else pattern += literal(token)
    if (token === '{') depth++
    else if (token === '}' && depth > 0) depth--
  }
  return `^${pattern}${')'.repeat(depth)}$`
}

const literal = (character: string) => (/[\p{L}\p{N}_/ ]/u.test(character) ? character : `\\${character}`)

/** `a-z` stays a range unless it runs backwards. */
const characterSet = (set: string) =>
  [...set.matchAll(/(.)-(.)|./gsu)]
    .map(([token, first, last]) =>
      first !== undefined && last !== undefined && first <= last
        ? `${literal(first)}-${literal(last)}`
        : Array.from(token, literal).join(''),
    )
    .join('')

/** For `Content-Type`. An invalid type becomes application/octet-stream. */
export const safeMimeType = (given: string): string =>
  /^[\w.+-]{1,100}\/[\w.+-]{1,100}(; ?charset=[\w-]{1,40})?$/i.test(given)
    ? given
    : 'application/octet-stream'

/** In bytes. Pages load every picture of an annotation. */
export const largestPicture = 4 * 1024 * 1024

/** What browsers show in an image element. No script of an SVG runs there. */
export const isPicture = (mimeType: string): boolean =>
  /^image\/(png|jpeg|gif|webp|avif|svg\+xml)$/i.test(mimeType)

/** The name in plain and encoded form, without characters that could end the header or form a path. */
export function disposition(filename: string): string {
  const plain = filename.replace(/[^\w. -]/g, '_')
  const encoded = encodeURIComponent(filename.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `inline; filename="${plain}"; filename*=UTF-8''${encoded}`
}
