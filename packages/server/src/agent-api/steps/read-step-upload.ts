// Reads the body of an upload of steps; in a thread where it is large, because that takes seconds.
import { MAX_VALUES } from '@millrace/engine/source.ts'
import { PipelineUploadRequest } from '@millrace/protocol/pipelines.ts'
import { readSteps, type ReadSteps } from '../../conductor/read-steps.ts'
import { refused } from '../../lib/errors.ts'
import { compiledModule } from '../../lib/package-files.ts'
import { ThreadLimitExceeded } from '../../lib/thread.ts'
import { runInThread, type WorkOwner } from '../../lib/threads.ts'
import { bodyReader } from '../read-body.ts'

interface SentSteps {
  uploadId: string
  replace: boolean
  steps: ReadSteps
}

const mostInlineBytes = 8 * 1024
const mostCpuMs = 10_000

const readBody = bodyReader(PipelineUploadRequest, MAX_VALUES)

export async function readStepUpload(bytes: Buffer, owner: WorkOwner): Promise<SentSteps> {
  if (bytes.length <= mostInlineBytes) return read(bytes)
  const module = compiledModule('agent-api/steps/read-step-upload.ts')
  const text = await runInThread<typeof readAsJson>(owner, module, 'readAsJson', bytes, mostCpuMs).catch(
    (error: unknown) => {
      throw error instanceof ThreadLimitExceeded ? refused('The steps take too long to read.') : error
    },
  )
  return JSON.parse(text) as SentSteps
}

/** Returns JSON, because threads pass a string on much faster than objects. */
export function readAsJson(bytes: Uint8Array): string {
  return JSON.stringify(read(Buffer.from(bytes)))
}

function read(bytes: Buffer): SentSteps {
  const { uuid, pipeline, replace } = readBody(bytes)
  return { uploadId: uuid, replace: replace ?? false, steps: readSteps({ value: pipeline }) }
}
