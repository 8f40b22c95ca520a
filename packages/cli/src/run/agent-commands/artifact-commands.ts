// `buildkite-agent artifact …` in a local build.
import { copyTo, withoutDuplicates, type Artifact } from './artifact-store.ts'
import type { AgentAnswer } from './agent-socket.ts'
import { done, parse, type AgentCommand, type CommandCall } from './agent-command.ts'
import { count } from '../counting.ts'
import { Refused } from '../../refused.ts'

const TEXT = { type: 'string' } as const
const SWITCH = { type: 'boolean' } as const
const SEARCH = { build: TEXT, step: TEXT, 'include-retried-jobs': SWITCH }

export const ARTIFACT_COMMANDS: ReadonlyArray<readonly [string, AgentCommand]> = [
  ['artifact upload', upload],
  ['artifact download', download],
  ['artifact search', search],
  ['artifact shasum', shasum],
]

async function upload({ host, call, jobId, args }: CommandCall): Promise<AgentAnswer> {
  const options = {
    job: TEXT,
    'content-type': TEXT,
    literal: SWITCH,
    'glob-resolve-follow-symlinks': SWITCH,
    'upload-skip-symlinks': SWITCH,
  }
  const { values, positionals } = parse(args, options, 1)
  const given = positionals[0] ?? ''
  if (given.trim() === '') throw new Refused('Which files are to be uploaded?')
  const patterns = values['literal'] === true ? given.replaceAll(/[*?[\]{}\\]/g, String.raw`\$&`) : given
  const paths = await host.artifacts.upload(jobId, patterns, call.cwd)
  if (paths.length === 0) return done(`No files match ${given}.\n`)
  return done(`Uploaded ${count(paths.length, 'artifact')}: ${paths.join(', ')}\n`)
}

function download(commandCall: CommandCall): AgentAnswer {
  const { positionals, found } = find(commandCall, {}, 2)
  const [query = '', destination = ''] = positionals
  if (destination === '') throw new Refused('Into which folder are the artifacts to be downloaded?')
  const artifacts = withoutDuplicates(found)
  if (artifacts.length === 0) throw new Refused(`No artifacts match ${query}.`)
  const lines = artifacts.map((artifact) => {
    try {
      return copyTo(artifact, { folder: commandCall.call.cwd, destination })
    } catch (error) {
      throw new Refused(`${artifact.path}: ${error instanceof Error ? error.message : String(error)}`)
    }
  })
  return done(`Downloaded ${count(lines.length, 'artifact')}: ${lines.join(', ')}\n`)
}

function search(commandCall: CommandCall): AgentAnswer {
  const { values, found } = find(commandCall, { format: TEXT, 'allow-empty-results': SWITCH }, 1)
  if (found.length === 0 && values['allow-empty-results'] !== true) throw new Refused('No artifacts match.')
  const { format } = values
  const template = typeof format === 'string' ? format : String.raw`%j %p %c\n`
  return done(found.map((artifact) => describe(artifact, template)).join(''))
}

function shasum(commandCall: CommandCall): AgentAnswer {
  const { values, found } = find(commandCall, { sha256: SWITCH }, 1)
  const [artifact, second] = withoutDuplicates(found)
  if (artifact === undefined) throw new Refused('No artifacts match.')
  if (second !== undefined) throw new Refused('More than one artifact matches.')
  return done(`${values['sha256'] === true ? artifact.sha256 : artifact.sha1}\n`)
}

function find({ host, call, args }: CommandCall, more: typeof SEARCH | object, most: number) {
  const { values, positionals } = parse(args, { ...SEARCH, ...more }, most)
  const [query = ''] = positionals
  if (query === '') throw new Refused('Which artifacts are wanted?')
  const build = values['build'] ?? call.env['BUILDKITE_BUILD_ID']
  if (build !== call.env['BUILDKITE_BUILD_ID']) throw new Refused('A local run knows no other builds.')
  const { step } = values
  const isWanted = host.jobFilter(
    typeof step === 'string' ? step : null,
    values['include-retried-jobs'] === true,
  )
  const found = host.artifacts.find(query, isWanted)
  if (found === null) throw new Refused(`The pattern ${query} is malformed.`)
  return { values, positionals, found }
}

function describe(artifact: Artifact, format: string): string {
  const values: Readonly<Record<string, string>> = {
    '%i': artifact.id,
    '%p': artifact.path,
    '%c': artifact.createdAt,
    '%j': artifact.jobId,
    '%s': String(artifact.sizeBytes),
    '%S': artifact.sha1,
    '%T': artifact.sha256,
    '%u': artifact.file,
    '%%': '%',
    [String.raw`\n`]: '\n',
    [String.raw`\t`]: '\t',
  }
  return format.replaceAll(/%[ipcjsSTu%]|\\[nt]/g, (code) => values[code] ?? code)
}
