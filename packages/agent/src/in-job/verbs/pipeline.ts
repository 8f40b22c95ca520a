import { randomUUID } from 'node:crypto'
import type { UploadedPipeline } from '@millrace/protocol/pipelines.ts'
import { uploadPipeline } from '../../api/pipelines.ts'
import { Refused } from '../../http/retry.ts'
import { needlesOf, secretValues } from '../../log/secrets.ts'
import { redactedVariables } from '../job-api.ts'
import { Exit, JOB, JWKS_FILE, JWKS_KEY_ID } from '../verb.ts'
import type { Flags, Io, Verb } from '../verb.ts'

const upload: Verb = {
  name: 'pipeline upload',
  usage: '[file]',
  summary: 'Add the steps of a file to the build; from standard input with -, or from a default file.',
  flags: {
    job: JOB,
    replace: {
      kind: 'switch',
      summary: 'Drop all steps that have not started',
      variable: 'BUILDKITE_PIPELINE_REPLACE',
    },
    'dry-run': {
      kind: 'switch',
      summary: 'Print what would be uploaded',
      variable: 'BUILDKITE_PIPELINE_UPLOAD_DRY_RUN',
    },
    format: { kind: 'text', summary: 'Of a dry run; JSON, which is YAML too', fallback: 'json' },
    'no-interpolation': {
      kind: 'switch',
      summary: 'Leave variables as they are written',
      variable: 'BUILDKITE_PIPELINE_NO_INTERPOLATION',
    },
    'reject-secrets': {
      kind: 'switch',
      summary: 'Refuse a pipeline that contains the value of a secret variable',
      variable: 'BUILDKITE_AGENT_PIPELINE_UPLOAD_REJECT_SECRETS',
    },
    'apply-if-changed': { kind: 'switch', summary: 'Accepted, without effect', fallback: 'true' },
    'git-diff-base': { kind: 'text', summary: 'What to compare with', variable: 'BUILDKITE_GIT_DIFF_BASE' },
    'fetch-diff-base': { kind: 'switch', summary: 'Accepted, without effect' },
    'changed-files-path': {
      kind: 'text',
      summary: 'A file that lists the changed files',
      variable: 'BUILDKITE_CHANGED_FILES_PATH',
    },
    'jwks-file': JWKS_FILE,
    'jwks-key-id': JWKS_KEY_ID,
    'redacted-vars': { kind: 'text', summary: 'Accepted, without effect' },
  },
  async run({ args, flags, io, api }) {
    // Loaded on demand: the parser would slow down the start of every other command.
    const { explainRefusal, openPipelineFile, readUploads } = await import('../pipeline/read.ts')
    const file = await openPipelineFile(io, args[0])
    const unsigned = await readUploads(io, file, {
      interpolates: !flags.isOn('no-interpolation'),
      base: flags.text('git-diff-base'),
      listFile: flags.text('changed-files-path'),
    })
    checkSecrets(io, unsigned, flags.isOn('reject-secrets'))
    const pipelines = await signed(unsigned, flags, io.env['BUILDKITE_REPO'] ?? '')
    if (flags.isOn('dry-run')) {
      for (const pipeline of pipelines) io.print(`${JSON.stringify(pipeline, null, 2)}\n`)
      return
    }
    for (const [index, pipeline] of pipelines.entries()) {
      // Only the first document replaces the existing steps; the others are added.
      const replaces = flags.isOn('replace') && index === 0
      const request = { uuid: randomUUID(), pipeline, ...(replaces ? { replace: true } : {}) }
      try {
        const message = await uploadPipeline(api(), flags.need('job'), request)
        if (message !== null) io.printError(message)
      } catch (error) {
        if (error instanceof Refused && error.status === 422)
          for (const line of explainRefusal(file)) io.printError(line)
        throw error
      }
    }
    io.printError(`Uploaded ${file.name}`)
  },
}

async function signed(
  pipelines: readonly UploadedPipeline[],
  flags: Flags,
  repository: string,
): Promise<readonly UploadedPipeline[]> {
  const file = flags.text('jwks-file')
  if (file === '') return pipelines
  const { readSigningKey } = await import('../../signing/keys.ts')
  const { signPipeline } = await import('../../signing/sign-pipeline.ts')
  const key = await readSigningKey(file, flags.text('jwks-key-id'))
  return Promise.all(pipelines.map((pipeline) => signPipeline(pipeline, repository, key)))
}

export const pipelineVerbs = [upload]

function checkSecrets(io: Io, pipelines: readonly UploadedPipeline[], isRefused: boolean): void {
  const bytes = Buffer.from(textsIn(pipelines).join('\n'))
  const patterns = redactedVariables(io)
  const names = Object.entries(io.env).flatMap(([name, value]) => {
    const needles = secretValues({ [name]: value }, patterns).flatMap(needlesOf)
    return needles.some((needle) => bytes.includes(needle)) ? [name] : []
  })
  if (names.length === 0) return
  const message = `The pipeline contains the value of ${names.join(', ')}.`
  if (isRefused) throw new Exit(1, message)
  io.printError(`Warning: ${message}`)
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, item]) => [key, ...textsIn(item)])
}
