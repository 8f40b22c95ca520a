// The commands of buildkite-agent that a local build understands.
import { parseArgs, type ParseArgsConfig } from 'node:util'
import type { EnvLookup } from '@millrace/engine/expansion.ts'
import type { AgentAnswer, AgentCall, AnswerAgent } from './agent-door.ts'
import { count } from './counting.ts'
import { readPipelineFile, type PipelineFile } from './pipeline-file.ts'
import { Refused } from './refused.ts'

/** What the commands act on. */
export interface AgentHost {
  metaData: Map<string, string>
  /** How many steps it added, or why it did not, as text for a person. */
  upload(jobId: string, upload: Upload): Promise<{ ok: true; steps: number } | { ok: false; message: string }>
  annotate(jobId: string, style: string, body: string): void
}

export interface Upload {
  file: PipelineFile
  replace: boolean
  /** null: variables stay as they are written. */
  lookup: EnvLookup | null
}

interface Occasion {
  host: AgentHost
  call: AgentCall
  jobId: string
  args: string[]
  readInput: () => Promise<Buffer>
}

type AgentCommand = (occasion: Occasion) => Promise<AgentAnswer> | AgentAnswer

const MAX_VALUE_BYTES = 100 * 1024
const MISSING_STATUS = 100

const COMMANDS = new Map<string, AgentCommand>([
  ['pipeline upload', uploadPipeline],
  ['meta-data get', getMetaData],
  ['meta-data set', setMetaData],
  ['meta-data exists', hasMetaData],
  ['meta-data keys', listMetaData],
  ['annotate', annotate],
])

export function answerAgent(host: AgentHost): AnswerAgent {
  return async (call, readInput) => {
    const words = COMMANDS.has(call.args[0] ?? '') ? 1 : 2
    const name = call.args.slice(0, words).join(' ')
    const command = COMMANDS.get(name)
    const jobId = call.env['BUILDKITE_JOB_ID'] ?? ''
    try {
      if (command === undefined) throw new Refused(`A local run has no buildkite-agent ${name}.`)
      return await command({ host, call, jobId, args: call.args.slice(words), readInput })
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      return { stdout: '', stderr: `${error.message}\n`, status: 1 }
    }
  }
}

async function uploadPipeline({ host, call, jobId, args, readInput }: Occasion): Promise<AgentAnswer> {
  const { values, positionals } = parse(
    args,
    { replace: { type: 'boolean' }, 'no-interpolation': { type: 'boolean' } },
    1,
  )
  const name = positionals[0] ?? (call.hasInput ? '-' : undefined)
  const file = await readPipelineFile({ name, cwd: call.cwd, input: once(readInput) })
  const env = new Map(Object.entries(call.env))
  const uploaded = await host.upload(jobId, {
    file,
    replace: values['replace'] === true,
    lookup: values['no-interpolation'] === true ? null : (variable) => env.get(variable),
  })
  if (!uploaded.ok) throw new Refused(uploaded.message)
  return done(`Uploaded ${count(uploaded.steps, 'step')} from ${file.name}.\n`)
}

function getMetaData({ host, args }: Occasion): AgentAnswer {
  const { values, positionals } = parse(args, { default: { type: 'string' } }, 1)
  const name = nameIn(positionals)
  const value = host.metaData.get(name) ?? values['default']
  if (typeof value !== 'string') throw new Refused(`No meta-data has been set for ${name}.`)
  return done(value)
}

async function setMetaData({ host, args, readInput }: Occasion): Promise<AgentAnswer> {
  const { positionals } = parse(args, {}, 2)
  const name = nameIn(positionals)
  const value = positionals[1] ?? (await readInput()).toString()
  if (name.startsWith('buildkite:')) throw new Refused('Names that begin with buildkite: are reserved.')
  if (value.trim() === '') throw new Refused('The value must not be blank.')
  if (Buffer.byteLength(value) > MAX_VALUE_BYTES) {
    throw new Refused(`The value is larger than ${MAX_VALUE_BYTES} bytes.`)
  }
  host.metaData.set(name, value)
  return done('')
}

function hasMetaData({ host, args }: Occasion): AgentAnswer {
  const { positionals } = parse(args, {}, 1)
  return done('', host.metaData.has(nameIn(positionals)) ? 0 : MISSING_STATUS)
}

function listMetaData({ host, args }: Occasion): AgentAnswer {
  parse(args, {}, 0)
  const names = [...host.metaData.keys()].sort()
  return done(names.map((name) => `${name}\n`).join(''))
}

async function annotate({ host, call, jobId, args, readInput }: Occasion): Promise<AgentAnswer> {
  const text = { type: 'string' } as const
  const { values, positionals } = parse(
    args,
    { style: text, context: text, priority: text, scope: text, append: { type: 'boolean' } },
    1,
  )
  const body = positionals[0] ?? (call.hasInput ? (await readInput()).toString() : '')
  if (body.trim() === '') throw new Refused('An annotation needs a text.')
  const { style } = values
  host.annotate(jobId, typeof style === 'string' ? style : 'default', body.trimEnd())
  return done('')
}

function nameIn([name = '']: readonly string[]): string {
  if (name.trim() === '') throw new Refused('The name must not be blank.')
  return name
}

type Parsed = { values: Record<string, unknown>; positionals: string[] }

function parse(args: string[], options: NonNullable<ParseArgsConfig['options']>, most: number): Parsed {
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
    if (positionals.length > most) throw new Refused(`There is no use for ${positionals[most]}.`)
    return { values, positionals }
  } catch (error) {
    if (error instanceof TypeError) throw new Refused(error.message)
    throw error
  }
}

async function* once(read: () => Promise<Buffer>): AsyncGenerator<Buffer> {
  yield await read()
}

function done(stdout: string, status = 0): AgentAnswer {
  return { stdout, stderr: '', status }
}
