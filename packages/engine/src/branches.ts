import { matchesWildcard } from './globs.ts'

/**
 * Patterns separated by blanks: `*` is any run of characters, a leading `!` excludes. A branch passes when nothing
 * excludes it and, if any pattern includes at all, one includes it.
 */
export function matchesBranch(patterns: string, branch: string): boolean {
  const all = patterns.split(/\s+/).filter((pattern) => pattern !== '')
  const excluding = all.filter((pattern) => pattern.startsWith('!')).map((pattern) => pattern.slice(1))
  const including = all.filter((pattern) => !pattern.startsWith('!'))
  if (excluding.some((pattern) => matchesWildcard(pattern, branch))) return false
  return including.length === 0 || including.some((pattern) => matchesWildcard(pattern, branch))
}
