export interface Wanted {
  text: string
  /** null: the text is no number of a build. */
  buildNumber: number | null
  /** The first digits of a commit; null: the text is none. */
  commit: string | null
}

const largestNumber = 2 ** 31 - 1

/** null: there is nothing to look for. */
export function readWanted(q: string): Wanted | null {
  const text = q.trim()
  if (text === '') return null
  const [, digits] = /^#?(\d{1,10})$/.exec(text) ?? []
  const number = Number(digits ?? Infinity)
  return {
    text,
    buildNumber: number <= largestNumber ? number : null,
    commit: /^[0-9a-f]{7,40}$/i.test(text) ? text.toLowerCase() : null,
  }
}
