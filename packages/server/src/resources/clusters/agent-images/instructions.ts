// Parses a Dockerfile's instructions as builders do. Builders differ in what ends a line, in whether two backslashes continue
// it, in whether they trim continued lines, and in whether they know here-documents. So a text is parsed in each dialect,
// and a forbidden instruction must not appear in any result.

export interface Instruction {
  /** As it is written. */
  keyword: string
  /** The arguments, on one line. */
  rest: string
}

interface Dialect {
  newline: RegExp
  continued: RegExp
  trimsContinuation: boolean
  knowsHeredocs: boolean
}

const newlines = [/\r?\n/, /\r\n|\r|\n/]
/** A backslash at the end. Newer builders ignore one that is itself escaped. */
const continuations = [/\\[ \t]*$/, /(?<!\\)\\[ \t]*$/]

const dialects: Dialect[] = newlines.flatMap((newline) =>
  continuations.flatMap((continued) =>
    [true, false].flatMap((trimsContinuation) =>
      [true, false].map((knowsHeredocs) => ({ newline, continued, trimsContinuation, knowsHeredocs })),
    ),
  ),
)

export const parseInAllDialects = (dockerfile: string): Instruction[][] =>
  dialects.map((dialect) => parse(dockerfile, dialect))

/** Go, in which builders are written, counts U+0085 as white space; JavaScript does not. */
const blank = /^[\p{White_Space}\uFEFF]$/u

function trimStart(text: string): string {
  let start = 0
  while (blank.test(text.charAt(start))) start += 1
  return text.slice(start)
}

/** A regular expression for blanks at the end would take the square of the length of those in the middle. */
function trim(text: string): string {
  let end = text.length
  while (blank.test(text.charAt(end - 1))) end -= 1
  return trimStart(text.slice(0, end))
}

function parse(dockerfile: string, dialect: Dialect): Instruction[] {
  const lines = dockerfile.split(dialect.newline)
  const instructions: Instruction[] = []
  for (let at = 0; at < lines.length;) {
    let text = ''
    let isContinued = true
    while (isContinued && at < lines.length) {
      const line = lines[at++] ?? ''
      const bare = trim(line)
      // Blank lines and comments neither begin nor end an instruction.
      if (bare === '' || bare.startsWith('#')) {
        if (text === '') break
        continue
      }
      isContinued = dialect.continued.test(line)
      const piece = isContinued ? line.replace(/\\[ \t]*$/, '') : line
      text += text === '' || dialect.trimsContinuation ? trimStart(piece) : piece
    }
    if (text === '') continue
    const [, keyword = '', rest = ''] = /^([^\t\v\f\r ]*)(.*)$/su.exec(text) ?? []
    instructions.push({ keyword, rest: trim(rest) })
    if (dialect.knowsHeredocs) at = afterHeredocs(lines, at, text)
  }
  return instructions
}

/** The index of the line after the here-documents of the instruction. */
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
