// Reads a pipeline's configuration; in a thread where it is large, because that takes seconds. Most builds find it read already.
import { DEFAULT_MAX_BYTES, readPipeline, type ReadPipeline } from '@millrace/engine/steps/document.ts'
import { compiledModule } from '../lib/package-files.ts'
import { ThreadLimitExceeded } from '../lib/thread.ts'
import { runInThread, type WorkOwner } from '../lib/threads.ts'
import { ReadDocuments } from './read-documents.ts'

interface StoredSteps {
  text: string
  /** Absent: variables are left as they are written. */
  variables?: ReadonlyMap<string, string>
}

const mostInlineCharacters = 8 * 1024
const mostCpuMs = 10_000
/** Freezing a larger document would hold the event loop. */
const mostKeptCharacters = 64 * 1024
const known = new ReadDocuments(4 * 1024 * 1024)

/** The document may be frozen. */
export async function readStored(steps: StoredSteps, owner: WorkOwner): Promise<ReadPipeline> {
  const { text, variables } = steps
  if (variables === undefined || text.length > mostKeptCharacters)
    return (await readAfresh(steps, owner)).read
  const found = known.find(text, variables)
  if (found !== undefined) return found
  const { read, names } = await readAfresh(steps, owner)
  if (read.ok) known.add(text, variables, names, read)
  return read
}

interface Reading {
  read: ReadPipeline
  /** The variables that the text names. */
  names: string[]
}

async function readAfresh(steps: StoredSteps, owner: WorkOwner): Promise<Reading> {
  if (steps.text.length <= mostInlineCharacters) return readText(steps)
  const module = compiledModule('conductor/read-stored.ts')
  try {
    const json = await runInThread<typeof readAsJson>(owner, module, 'readAsJson', steps, mostCpuMs)
    return JSON.parse(json) as Reading
  } catch (error) {
    if (!(error instanceof ThreadLimitExceeded)) throw error
    const problem = { message: 'the steps take too long to read', line: 1, column: 1, step: null }
    return { read: { ok: false, problems: [problem] }, names: [] }
  }
}

/** Returns JSON, because threads pass a string on much faster than objects. */
export const readAsJson = (steps: StoredSteps): string => JSON.stringify(readText(steps))

function readText({ text, variables }: StoredSteps): Reading {
  const names = new Set<string>()
  const lookUp = (name: string) => {
    names.add(name)
    return variables?.get(name)
  }
  const options = { origin: 'stored', maxBytes: DEFAULT_MAX_BYTES } as const
  const read = readPipeline(text, variables === undefined ? options : { ...options, interpolateWith: lookUp })
  return { read, names: [...names] }
}
