// Flags as the public agent reads them: with one dash or two, and `--switch=false`. Node's parseArgs reads `-name` as four flags
// and refuses a value of a switch.

import { Exit } from './verb.ts'
import type { Flag, Flags, Io } from './verb.ts'

/** Understood by every command. */
export const COMMON_FLAGS: Readonly<Record<string, Flag>> = {
  'agent-access-token': {
    kind: 'text',
    summary: 'The token of the job',
    variable: 'BUILDKITE_AGENT_ACCESS_TOKEN',
  },
  endpoint: { kind: 'text', summary: 'The address of the server', variable: 'BUILDKITE_AGENT_ENDPOINT' },
  help: { kind: 'switch', summary: 'Show this' },
  'no-http2': { kind: 'switch', summary: 'Accepted, without effect' },
  'no-color': { kind: 'switch', summary: 'Accepted, without effect' },
  debug: { kind: 'switch', summary: 'Accepted, without effect' },
  'debug-http': { kind: 'switch', summary: 'Accepted, without effect' },
  'log-level': { kind: 'text', summary: 'Accepted, without effect' },
  experiment: { kind: 'list', summary: 'Accepted, without effect' },
  profile: { kind: 'text', summary: 'Accepted, without effect' },
}

interface ParsedLine {
  args: string[]
  /** Those of them that stand after `--`. */
  rest: string[]
  flags: Flags
}

/** Flags may stand anywhere, with one dash or two; after `--` all are arguments. */
export function parseLine(
  words: readonly string[],
  known: Readonly<Record<string, Flag>>,
  env: Io['env'],
): ParsedLine {
  const given = new Map<string, string[]>()
  const args: string[] = []
  const rest: string[] = []
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? ''
    if (word === '--') {
      rest.push(...words.slice(index + 1))
      break
    }
    const match = /^--?([A-Za-z][\w-]*)(?:=([\s\S]*))?$/.exec(word)
    if (!match) {
      args.push(word)
      continue
    }
    const name = match[1] === 'h' ? 'help' : (match[1] ?? '')
    const flag = known[name]
    if (!flag) throw new Exit(1, `There is no flag --${name}.`)
    let value = match[2]
    if (value === undefined && flag.kind === 'switch') value = 'true'
    if (value === undefined) {
      index += 1
      value = words[index]
      if (value === undefined) throw new Exit(1, `--${name} needs a value.`)
    }
    given.set(name, [...(given.get(name) ?? []), value])
  }
  return { args: [...args, ...rest], rest, flags: flagsOf(given, known, env) }
}

function flagsOf(
  given: ReadonlyMap<string, string[]>,
  known: Readonly<Record<string, Flag>>,
  env: Io['env'],
): Flags {
  const values = (name: string): string[] => {
    const flag = known[name]
    const fromLine = given.get(name)
    if (fromLine) return fromLine
    const fromEnv = flag?.variable === undefined ? undefined : env[flag.variable]
    if (fromEnv !== undefined && fromEnv !== '') return [fromEnv]
    return flag?.fallback === undefined ? [] : [flag.fallback]
  }
  const text = (name: string) => values(name).at(-1) ?? ''
  return {
    text,
    need(name) {
      const value = text(name)
      const variable = known[name]?.variable
      if (value === '')
        throw new Exit(1, `--${name} is missing${variable === undefined ? '' : `, and so is ${variable}`}.`)
      return value
    },
    isOn: (name) => ['true', '1'].includes(text(name).toLowerCase()),
    list: (name) =>
      values(name)
        .flatMap((value) => value.split(','))
        .filter((value) => value !== ''),
    isGiven: (name) => given.has(name),
  }
}
