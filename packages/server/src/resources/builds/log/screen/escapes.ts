// Removes terminal escape sequences from a log while it is read. Bytes may be passed as Latin-1, which keeps them unchanged.

/** `plain` has no escape sequences. `ansi` keeps colours and cursor movements, but no time codes. */
export type Escapes = 'plain' | 'ansi'

/** A sequence that does not end within this many characters is not one: only its introducer is removed. */
const longestSequence = 4096

const controlString = `[^\\x07\\x1b]{0,${longestSequence}}(?:\\x07|\\x1b\\\\)`
const sequences: Record<Escapes, RegExp> = {
  plain: new RegExp(`\\x1b(?:\\[[0-?]*[ -/]*[@-~]|[\\]_PX^]${controlString}|[()*+][!-~]|[ -~])?`, 'g'),
  // Agents write their time codes as application program commands (ESC _), which no program prints for people.
  ansi: new RegExp(`\\x1b_(?:${controlString})?`, 'g'),
}

/** A sequence that the text ends within. */
const unfinished = new RegExp(
  `\\x1b(?:\\[[0-?]*[ -/]*|[\\]_PX^][^\\x07\\x1b]{0,${longestSequence}}\\x1b?|[()*+])?$`,
)

interface EscapeRemover {
  /** Returns the text up to an unfinished sequence, which is kept until its end arrives. */
  push(text: string): string
  end(): string
}

export function removeEscapes(escapes: Escapes): EscapeRemover {
  const sequence = sequences[escapes]
  let waiting = ''
  return {
    push(text) {
      const input = waiting + text
      const tailStart = Math.max(input.length - longestSequence - 3, 0)
      const cut = unfinished.exec(input.slice(tailStart))
      const end = cut === null ? input.length : tailStart + cut.index
      waiting = input.slice(end)
      return input.slice(0, end).replace(sequence, '')
    },
    end: () => waiting.replace(sequence, ''),
  }
}
