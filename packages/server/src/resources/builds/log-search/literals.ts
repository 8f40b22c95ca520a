// What a log must contain so that a search can find anything in it: the parts of the text, or of the regular expression, that
// every match has. Leaving one out only makes the search slower, so whatever is not plain is left out.
import type { Query } from '../log/rows/search-tasks.ts'

/** Of ASCII, in lower case, which is what indexes and sketches know. */
export const requiredTexts = ({ text, isRegex }: Query): string[] =>
  (isRegex ? plainRuns(text) : [text])
    .flatMap((part) => part.split(/[^\x20-\x7e]+/))
    .map((part) => part.toLowerCase())
    .filter((part) => part !== '')

/** Escapes whose meaning does not end with one letter. */
const longEscape = /[xpPQECzAZ0-9]/
const plainEscape = /[^\p{L}\p{N}]/u

function plainRuns(source: string): string[] {
  const runs: string[] = []
  let run = ''
  let depth = 0
  const end = () => {
    if (run !== '') runs.push(run)
    run = ''
  }
  for (let at = 0; at < source.length; at++) {
    const char = source[at] ?? ''
    let literal: string | null = null
    if (char === '|' && depth === 0) return []
    if (char === '\\') {
      const escaped = source[++at] ?? ''
      if (longEscape.test(escaped)) return []
      if (plainEscape.test(escaped)) literal = escaped
    } else if (char === '[') {
      at = endOfClass(source, at)
    } else if (char === '(') {
      // Flags may change what all that follows means.
      if (/^\(\?[^:P<]/.test(source.slice(at))) return []
      depth++
    } else if (char === ')') depth--
    else if (!/[.^$*+?{}]/.test(char)) literal = char
    else if (char === '{') at = endOfCount(source, at)
    if (literal === null || depth > 0) {
      end()
      continue
    }
    const next = source[at + 1] ?? ''
    if (next === '*' || next === '?' || next === '{') end()
    else {
      run += literal
      if (next === '+') end()
    }
  }
  end()
  return runs
}

function endOfClass(source: string, start: number): number {
  let at = start + 1
  if (source[at] === '^') at++
  if (source[at] === ']') at++
  for (; at < source.length && source[at] !== ']'; at++) {
    if (source[at] === '\\') at++
    else if (source.startsWith('[:', at)) at = Math.max(at, source.indexOf(':]', at) + 1)
  }
  return at
}

function endOfCount(source: string, start: number): number {
  const count = /^\{\d+(?:,\d*)?\}/.exec(source.slice(start))
  return count === null ? start : start + count[0].length - 1
}
