import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { hideValue } from '../job-api.ts'
import { Exit } from '../verb.ts'
import type { Verb } from '../verb.ts'

const add: Verb = {
  name: 'redactor add',
  usage: '[file]',
  summary: 'Hide a value in the rest of the log; from a file, or from standard input.',
  flags: { format: { kind: 'text', summary: 'none, or json: an object of values', fallback: 'none' } },
  async run({ args, flags, io }) {
    const [file = '-'] = args
    const text = file === '-' ? await io.readInput() : await readFile(resolve(io.cwd, file), 'utf8')
    for (const value of valuesIn(text, flags.text('format'))) await hideValue(io, value)
  },
}

export const redactorVerbs = [add]

function valuesIn(text: string, format: string): string[] {
  if (format !== 'json') return [text.trim()]
  try {
    const values: unknown = JSON.parse(text)
    if (typeof values === 'object' && values !== null) return Object.values(values).map(String)
  } catch {
    // The error below covers this too.
  }
  throw new Exit(1, 'The input is no JSON object.')
}
