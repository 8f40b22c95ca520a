// The characters that stand for the names of emoji. They are looked up, never drawn: every terminal, mail and page has a font.
import { emojiTable } from './emoji-table.ts'
import { initialTable, toolTable } from './tool-table.ts'

export interface Emoji {
  character: string
  names: readonly string[]
}

/** All but flags by country code. Each tool is an entry of its own, also where several have one character. */
export function listEmoji(): Emoji[] {
  const tools = linesOf(toolTable).flatMap(({ character, names }) =>
    names.map((name) => ({ character, names: [name] })),
  )
  const initials = initialTable
    .trim()
    .split(/\s+/)
    .map((name) => ({ character: initialOf(name), names: [name] }))
  return [...linesOf(emojiTable), ...tools, ...initials]
}

/** null: nobody knows the name. */
export function findEmoji(name: string): string | null {
  known ??= new Map(listEmoji().flatMap(({ character, names }) => names.map((each) => [each, character])))
  return known.get(name) ?? flagOf(name)
}

/** Made when it is first needed, because most programs that load this need none. */
let known: Map<string, string> | undefined

function linesOf(table: string): Emoji[] {
  return table
    .trim()
    .split('\n')
    .map((line) => {
      const [character = '', ...names] = line.split(' ')
      return { character, names }
    })
}

/** Ⓐ to Ⓩ; ① to ⑨ for a name that begins with a digit. */
function initialOf(name: string): string {
  const code = name.toUpperCase().charCodeAt(0)
  return String.fromCodePoint(code >= 0x41 ? code - 0x41 + 0x24b6 : code - 0x31 + 0x2460)
}

/** `flag-de` is 🇩🇪. */
function flagOf(name: string): string | null {
  const [, country] = /^flag-([a-z]{2})$/.exec(name) ?? []
  if (country === undefined) return null
  return String.fromCodePoint(...Array.from(country, (letter) => letter.charCodeAt(0) - 0x61 + 0x1f1e6))
}
