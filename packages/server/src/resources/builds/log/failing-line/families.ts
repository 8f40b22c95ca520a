import type { Family } from './family.ts'
import { agents } from './families/agents.ts'
import { go } from './families/go.ts'
import { javascriptTools } from './families/javascript-tools.ts'
import { javascript } from './families/javascript.ts'
import { jvm } from './families/jvm.ts'
import { moreLanguages } from './families/more-languages.ts'
import { native } from './families/native.ts'
import { python } from './families/python.ts'
import { rust } from './families/rust.ts'
import { shell } from './families/shell.ts'

/** A row that matches several families belongs to the first. */
export const families: readonly Family[] = [
  ...agents,
  ...python,
  ...javascript,
  ...javascriptTools,
  ...go,
  ...jvm,
  ...moreLanguages,
  ...native,
  ...rust,
  ...shell,
]

const asksForLine = (source: string) =>
  /:\\d|\(\\d\+,|line \\d|line \)\?\\d/.test(source.replaceAll('(?:', '('))

/**
 * One expression with a group for each family, because several hundred tests for each row take ten times as long. It is
 * sticky, so it is tried at the start of the row only. Expressions that ask for the number of a line have one of their own,
 * for rows with such a number.
 */
const withoutLine = joined((source) => !asksForLine(source))
const withLine = joined(asksForLine)
const lineNumber = /:\d|\(\d+,\d|line \d/

export function findFamily(text: string): Family | null {
  const first = firstGroup(withoutLine, text)
  return families[lineNumber.test(text) ? Math.min(first, firstGroup(withLine, text)) : first] ?? null
}

export function expressionsOf({ shapes, fails, passes, remembers }: Family): RegExp[] {
  const others = [fails, passes, remembers?.cause, remembers?.forgets]
  return [...shapes.map(({ begins }) => begins), ...others.filter((other) => other !== undefined)]
}

/** Infinity: no group matches. */
function firstGroup(expression: RegExp, text: string): number {
  expression.lastIndex = 0
  const groups = expression.exec(text)?.slice(1)
  return groups === undefined ? Infinity : groups.findIndex((group) => group !== undefined)
}

function joined(isWanted: (source: string) => boolean): RegExp {
  const groups = families.map((family) => {
    const sources = expressionsOf(family).map(({ source }) => source)
    // An empty group would match everything.
    return `(${
      sources
        .filter(isWanted)
        .map((source) => `(?:${source})`)
        .join('|') || '(?!)'
    })`
  })
  return new RegExp(groups.join('|'), 'y')
}
