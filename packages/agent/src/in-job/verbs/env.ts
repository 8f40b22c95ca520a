import { askAgent } from '../job-api.ts'
import { Exit } from '../verb.ts'
import type { Flag, Verb } from '../verb.ts'

const FORMAT: Flag = { kind: 'text', summary: 'plain, json or json-pretty', fallback: 'plain' }

const get: Verb = {
  name: 'env get',
  usage: '[names…]',
  summary: "Print variables of the job's environment, all when none is named.",
  flags: { format: FORMAT },
  async run({ args, flags, io }) {
    const env = await readEnv(io)
    const missing = args.filter((name) => !Object.hasOwn(env, name))
    const names =
      args.length === 0 ? Object.keys(env).toSorted() : args.filter((name) => Object.hasOwn(env, name))
    const [only] = names
    if (args.length === 1 && only !== undefined && flags.text('format') === 'plain')
      io.print(`${env[only]}\n`)
    else
      io.print(
        formatEnv(Object.fromEntries(names.map((name) => [name, env[name] ?? ''])), flags.text('format')),
      )
    if (missing.length > 0) throw new Exit(1, `Not set: ${missing.join(', ')}.`)
  },
}

const set: Verb = {
  name: 'env set',
  usage: '[NAME=value…]',
  summary:
    "Change the job's environment for what comes after this; JSON or lines from standard input with -.",
  flags: {
    'input-format': { kind: 'text', summary: 'plain or json', fallback: 'plain' },
    'output-format': { kind: 'text', summary: 'plain, json or quiet', fallback: 'plain' },
  },
  async run({ args, flags, io }) {
    const isInput = args.length === 0 || args[0] === '-'
    const text = isInput ? await io.readInput() : args.join('\n')
    const env =
      flags.text('input-format') === 'json' ? readJson(text) : readPairs(isInput ? text.split('\n') : args)
    const answer = await askAgent(io, 'PATCH', '/env', { env })
    report(answer, flags.text('output-format'), io.print)
  },
}

const unset: Verb = {
  name: 'env unset',
  usage: '<names…>',
  summary: "Take variables out of the job's environment.",
  flags: { 'output-format': { kind: 'text', summary: 'plain, json or quiet', fallback: 'plain' } },
  async run({ args, flags, io }) {
    if (args.length === 0) throw new Exit(1, 'The names are missing.')
    report(await askAgent(io, 'DELETE', '/env', { keys: args }), flags.text('output-format'), io.print)
  },
}

const dump: Verb = {
  name: 'env dump',
  usage: '',
  summary: 'Print the environment of this process as JSON.',
  flags: { format: { ...FORMAT, summary: 'json or json-pretty', fallback: 'json' } },
  async run({ flags, io }) {
    io.print(formatEnv(io.env, flags.text('format')))
  },
}

export const envVerbs = [get, set, unset, dump]

async function readEnv(io: Parameters<typeof askAgent>[0]): Promise<Record<string, string>> {
  const { env } = await askAgent(io, 'GET', '/env')
  return env as Record<string, string>
}

function formatEnv(env: Readonly<Record<string, string | undefined>>, format: string): string {
  if (format === 'json') return `${JSON.stringify(env)}\n`
  if (format === 'json-pretty') return `${JSON.stringify(env, null, 2)}\n`
  return Object.entries(env)
    .map(([name, value]) => `${name}=${value ?? ''}\n`)
    .join('')
}

function readPairs(lines: readonly string[]): Record<string, string> {
  const env: Record<string, string> = {}
  for (const line of lines) {
    if (line === '') continue
    const at = line.indexOf('=')
    if (at <= 0) throw new Exit(1, `"${line}" is not NAME=value.`)
    env[line.slice(0, at)] = line.slice(at + 1)
  }
  return env
}

function readJson(text: string): Record<string, string> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) {
      return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, String(item)]))
    }
  } catch {
    // The error below covers this too.
  }
  throw new Exit(1, 'The input is no JSON object.')
}

function report(answer: Record<string, unknown>, format: string, print: (text: string) => void): void {
  if (format === 'quiet') return
  if (format === 'json') {
    print(`${JSON.stringify(answer)}\n`)
    return
  }
  for (const [what, names] of Object.entries(answer)) {
    if (Array.isArray(names) && names.length > 0) print(`${what}: ${names.join(', ')}\n`)
  }
}
