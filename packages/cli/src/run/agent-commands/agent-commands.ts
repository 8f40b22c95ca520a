// The buildkite-agent commands of a local build.
import { done, parse, type AgentCommand, type AgentHost, type CommandCall } from './agent-command.ts'
import type { AgentAnswer, AnswerAgent } from './agent-socket.ts'
import { ARTIFACT_COMMANDS } from './artifact-commands.ts'
import { count } from '../counting.ts'
import { readPipelineFile } from '../pipeline-file.ts'
import { Refused } from '../../refused.ts'

const MAX_VALUE_BYTES = 100 * 1024
const MISSING_STATUS = 100
/** The job or build. There is only this one. */
const OWN = { job: { type: 'string' }, build: { type: 'string' } } as const

const COMMANDS = new Map<string, AgentCommand>([
  ['pipeline upload', uploadPipeline],
  ['meta-data get', getMetaData],
  ['meta-data set', setMetaData],
  ['meta-data exists', hasMetaData],
  ['meta-data keys', listMetaData],
  ['annotate', annotate],
  ['annotation remove', removeAnnotation],
  ['secret get', getSecret],
  ...ARTIFACT_COMMANDS,
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

async function uploadPipeline({ host, call, jobId, args, readInput }: CommandCall): Promise<AgentAnswer> {
  const { values, positionals } = parse(
    args,
    { job: { type: 'string' }, replace: { type: 'boolean' }, 'no-interpolation': { type: 'boolean' } },
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

function getMetaData({ host, args }: CommandCall): AgentAnswer {
  const { values, positionals } = parse(args, { ...OWN, default: { type: 'string' } }, 1)
  const name = nameIn(positionals)
  const value = host.metaData.get(name) ?? values['default']
  if (typeof value !== 'string') throw new Refused(`No meta-data has been set for ${name}.`)
  return done(value)
}

async function setMetaData({ host, args, readInput }: CommandCall): Promise<AgentAnswer> {
  const { positionals } = parse(args, OWN, 2)
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

function hasMetaData({ host, args }: CommandCall): AgentAnswer {
  const { positionals } = parse(args, OWN, 1)
  return done('', host.metaData.has(nameIn(positionals)) ? 0 : MISSING_STATUS)
}

function listMetaData({ host, args }: CommandCall): AgentAnswer {
  parse(args, OWN, 0)
  const names = [...host.metaData.keys()].sort()
  return done(names.map((name) => `${name}\n`).join(''))
}

async function annotate({ host, call, jobId, args, readInput }: CommandCall): Promise<AgentAnswer> {
  const text = { type: 'string' } as const
  const { values, positionals } = parse(
    args,
    { ...OWN, style: text, context: text, priority: text, scope: text, append: { type: 'boolean' } },
    1,
  )
  const body = positionals[0] ?? (call.hasInput ? (await readInput()).toString() : '')
  if (body.trim() === '') throw new Refused('An annotation needs a text.')
  const { style } = values
  host.annotate(jobId, typeof style === 'string' ? style : 'default', body.trimEnd())
  return done('')
}

function removeAnnotation({ host, jobId, args }: CommandCall): AgentAnswer {
  const { values } = parse(args, { ...OWN, context: { type: 'string' }, scope: { type: 'string' } }, 0)
  const { context } = values
  host.removeAnnotation(jobId, typeof context === 'string' ? context : 'default')
  return done('')
}

/** Reads the secret from the environment, like secrets of steps. */
function getSecret({ call, args }: CommandCall): AgentAnswer {
  const { positionals } = parse(args, { ...OWN, 'skip-redaction': { type: 'boolean' } }, 1)
  const name = nameIn(positionals)
  const value = call.env[name]
  if (value === undefined) throw new Refused(`Secrets are taken from the environment, and it lacks ${name}.`)
  return done(`${value}\n`)
}

function nameIn([name = '']: readonly string[]): string {
  if (name.trim() === '') throw new Refused('The name must not be blank.')
  return name
}

async function* once(read: () => Promise<Buffer>): AsyncGenerator<Buffer> {
  yield await read()
}
