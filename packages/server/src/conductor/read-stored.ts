// Reads a pipeline's configuration; in a thread where it is large, because that takes seconds.
import { DEFAULT_MAX_BYTES, readPipeline, type ReadPipeline } from '@millrace/engine/steps/document.ts'
import { compiledModule } from '../lib/package-files.ts'
import { ThreadLimitExceeded } from '../lib/thread.ts'
import { runInThread, type WorkOwner } from '../lib/threads.ts'

interface StoredSteps {
  text: string
  /** Absent: variables are left as they are written. */
  variables?: ReadonlyMap<string, string>
}

const mostInlineCharacters = 8 * 1024
const mostCpuMs = 10_000

export async function readStored(steps: StoredSteps, owner: WorkOwner): Promise<ReadPipeline> {
  if (steps.text.length <= mostInlineCharacters) return read(steps)
  const module = compiledModule('conductor/read-stored.ts')
  try {
    const json = await runInThread<typeof readAsJson>(owner, module, 'readAsJson', steps, mostCpuMs)
    return JSON.parse(json) as ReadPipeline
  } catch (error) {
    if (!(error instanceof ThreadLimitExceeded)) throw error
    const problem = { message: 'the steps take too long to read', line: 1, column: 1, step: null }
    return { ok: false, problems: [problem] }
  }
}

/** Returns JSON, because threads pass a string on much faster than objects. */
export const readAsJson = (steps: StoredSteps): string => JSON.stringify(read(steps))

const read = ({ text, variables }: StoredSteps): ReadPipeline =>
  readPipeline(text, {
    origin: 'stored',
    maxBytes: DEFAULT_MAX_BYTES,
    ...(variables && { interpolateWith: (name: string) => variables.get(name) }),
  })
