// Reads a Dockerfile's instructions the way builders do, as far as it takes to know what they are. Builders differ:
// in what ends a line, in whether two backslashes continue it, in whether white space before the rest of an
// instruction counts, in whether they know here-documents. So a text has several readings, and what must not be in
// it must be in none of them.

export interface Instruction {
  /** As it is written. */
  keyword: string
  /** What follows, on one line. */
  rest: string
}

interface Reading {
  newline: RegExp
  continued: RegExp
  trimsContinuation: boolean
  knowsHeredocs: boolean
}

const newlines = [/\r?\n/, /\r\n|\r|\n/]
/** A backslash at the end; for newer builders not one that is itself escaped. */
const continuations = [/\\[ \t]*$/, /(?<!\\)\\[ \t]*$/]

const readings: Reading[] = newlines.flatMap((newline) =>
  continuations.flatMap((continued) =>
    [true, false].flatMap((trimsContinuation) =>
      [true, false].map((knowsHeredocs) => ({ newline, continued, trimsContinuation, knowsHeredocs })),
    ),
  ),
)

export const readEveryWay = (dockerfile: string): Instruction[][] =>
  readings.map((reading) => readInstructions(dockerfile, reading))

/** More than JavaScript calls white space: builders are written in Go, which has U+0085 besides. */
const blank = '[\\p{White_Space}\\uFEFF]'
const leadingBlank = new RegExp(`^${blank}+`, 'u')
const outerBlank = new RegExp(`^${blank}+|${blank}+$`, 'gu')

function readInstructions(dockerfile: string, reading: Reading): Instruction[] {
  const lines = dockerfile.split(reading.newline)
  const instructions: Instruction[] = []
  for (let at = 0; at < lines.length;) {
    let text = ''
    let isContinued = true
    while (isContinued && at < lines.length) {
      const line = lines[at++] ?? ''
      const bare = line.replace(outerBlank, '')
      // Blank lines and comments neither begin nor end an instruction.
      if (bare === '' || bare.startsWith('#')) {
        if (text === '') break
        continue
      }
      isContinued = reading.continued.test(line)
      const piece = isContinued ? line.replace(/\\[ \t]*$/, '') : line
      text += text === '' || reading.trimsContinuation ? piece.replace(leadingBlank, '') : piece
    }
    if (text === '') continue
    const [, keyword = '', rest = ''] = /^([^\t\v\f\r ]*)(.*)$/su.exec(text) ?? []
    instructions.push({ keyword, rest: rest.replace(outerBlank, '') })
    if (reading.knowsHeredocs) at = afterHeredocs(lines, at, text)
  }
  return instructions
}

/** The line behind the bodies of the here-documents that the instruction opens. */
function afterHeredocs(lines: readonly string[], start: number, instruction: string): number {
  let at = start
  for (const [, dash, word = ''] of instruction.matchAll(/<<(-?)("[^"]*"|'[^']*'|[^\s<>|;&()]+)/g)) {
    const end = word.replace(/^(["'])(.*)\1$/s, '$2')
    const bare = (line: string) => (dash === '-' ? line.replace(/^\t+/, '') : line)
    while (at < lines.length && bare(lines[at] ?? '') !== end) at++
    at++
  }
  return at
}
