/** Splits a text at the names of emoji, `:tada:`. Times such as 10:30:00 are none. */
export function splitEmoji(text: string): Array<string | { emoji: string }> {
  const parts: Array<string | { emoji: string }> = []
  let last = 0
  for (const match of text.matchAll(/(?<![A-Za-z0-9]):([a-z0-9_+-]{1,50}):(?![A-Za-z0-9])/g)) {
    if (match.index > last) parts.push(text.slice(last, match.index))
    parts.push({ emoji: match[1] ?? '' })
    last = match.index + match[0].length
  }
  if (last < text.length) parts.push(text.slice(last))
  return parts
}

/** For where there is only text, such as a label that is read aloud. */
export const withoutEmoji = (text: string): string =>
  splitEmoji(text)
    .filter((part) => typeof part === 'string')
    .join('')
    .trim() || text
