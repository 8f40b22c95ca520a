import type { ArtifactSearchQuery, FoundArtifact } from '@millrace/protocol/artifacts.ts'
import { searchArtifacts } from '../../api/artifacts.ts'
import { downloadArtifact } from '../../artifacts/download.ts'
import { inParallel, uploadArtifacts } from '../../artifacts/upload.ts'
import { argument, BUILD, Exit, JOB } from '../verb.ts'
import type { Flag, Verb, VerbCall } from '../verb.ts'

const SEARCH: Readonly<Record<string, Flag>> = {
  build: BUILD,
  step: { kind: 'text', summary: 'Only of this step (key or label) or job (id)' },
  'include-retried-jobs': {
    kind: 'switch',
    summary: 'Also of jobs that were retried',
    variable: 'BUILDKITE_AGENT_INCLUDE_RETRIED_JOBS',
  },
}

const upload: Verb = {
  name: 'artifact upload',
  usage: '<patterns> [destination]',
  summary: 'Upload files; several patterns are separated by semicolons.',
  flags: {
    job: JOB,
    'content-type': { kind: 'text', summary: 'Of all files', variable: 'BUILDKITE_ARTIFACT_CONTENT_TYPE' },
    literal: { kind: 'switch', summary: 'The argument is one path, not a pattern' },
    'glob-resolve-follow-symlinks': { kind: 'switch', summary: 'Accepted, without effect' },
    'upload-skip-symlinks': { kind: 'switch', summary: 'Accepted, without effect' },
    'no-multipart-artifact-upload': { kind: 'switch', summary: 'Accepted, without effect' },
  },
  async run(call) {
    const { args, flags, io, api } = call
    const given = argument(call, 0, 'pattern')
    const contentType = flags.text('content-type')
    await uploadArtifacts(api(), {
      jobId: flags.need('job'),
      patterns: flags.isOn('literal') ? given.replaceAll(/[*?[\]{}\\]/g, String.raw`\$&`) : given,
      folder: io.cwd,
      destination: args[1] ?? io.env['BUILDKITE_ARTIFACT_UPLOAD_DESTINATION'] ?? '',
      env: io.env,
      ...(contentType === '' ? {} : { contentType }),
      say: io.printError,
    })
  },
}

const download: Verb = {
  name: 'artifact download',
  usage: '<query> <destination>',
  summary: 'Download the files that match, into a folder.',
  flags: SEARCH,
  async run(call) {
    const { io, api } = call
    const found = await search(call, {})
    if (found.length === 0) throw new Exit(1, `No artifacts match ${argument(call, 0, 'query')}.`)
    const destination = argument(call, 1, 'destination')
    io.printError(`Downloading ${found.length} ${found.length === 1 ? 'file' : 'files'}`)
    const failures = await inParallel(found, async (artifact) => {
      try {
        const target = await downloadArtifact(api(), artifact, { folder: io.cwd, destination, env: io.env })
        io.printError(`  ${target}`)
        return 0
      } catch (error) {
        io.printError(`  ${artifact.path} failed: ${error instanceof Error ? error.message : String(error)}`)
        return 1
      }
    })
    if (failures.includes(1)) throw new Exit(1, 'Not all artifacts could be downloaded.')
  },
}

const find: Verb = {
  name: 'artifact search',
  usage: '<query>',
  summary: 'List the artifacts that match.',
  flags: {
    ...SEARCH,
    format: {
      kind: 'text',
      summary: '%i id, %p path, %c created, %j job, %s size, %S sha1, %T sha256, %u address',
      fallback: String.raw`%j %p %c\n`,
    },
    'allow-empty-results': { kind: 'switch', summary: 'None is not a failure' },
  },
  async run(call) {
    const { flags, io } = call
    const found = await search(call, { include_duplicates: 'true' })
    if (found.length === 0 && !flags.isOn('allow-empty-results')) throw new Exit(1, 'No artifacts match.')
    for (const artifact of found) io.print(formatArtifact(flags.text('format'), artifact))
  },
}

const shasum: Verb = {
  name: 'artifact shasum',
  usage: '<query>',
  summary: 'Print the hash of the one artifact that matches.',
  flags: { ...SEARCH, sha256: { kind: 'switch', summary: 'SHA-256 instead of SHA-1' } },
  async run(call) {
    const [artifact, second] = await search(call, {})
    if (!artifact) throw new Exit(1, 'No artifacts match.')
    if (second) throw new Exit(1, 'More than one artifact matches.')
    call.io.print(`${call.flags.isOn('sha256') ? artifact.sha256sum : artifact.sha1sum}\n`)
  },
}

export const artifactVerbs = [upload, download, find, shasum]

async function search(call: VerbCall, more: Partial<ArtifactSearchQuery>): Promise<FoundArtifact[]> {
  const { flags, api } = call
  const step = flags.text('step')
  return await searchArtifacts(api(), flags.need('build'), {
    query: argument(call, 0, 'query'),
    ...(step === '' ? {} : { scope: step }),
    ...(flags.isOn('include-retried-jobs') ? { include_retried_jobs: 'true' } : {}),
    ...more,
  })
}

function formatArtifact(format: string, artifact: FoundArtifact): string {
  const values: Readonly<Record<string, string>> = {
    '%i': artifact.id,
    '%p': artifact.path,
    '%c': artifact.created_at ?? '',
    '%j': artifact.job_id,
    '%s': String(artifact.file_size),
    '%S': artifact.sha1sum,
    '%T': artifact.sha256sum,
    '%u': artifact.url,
    '%%': '%',
    [String.raw`\n`]: '\n',
    [String.raw`\t`]: '\t',
  }
  return format.replaceAll(/%[ipcjsSTu%]|\\[nt]/g, (code) => values[code] ?? code)
}
