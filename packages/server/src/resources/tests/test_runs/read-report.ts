// Reads a file of JUnit or JSON, which may be compressed. Whoever sends it a second time sends the same results.
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { badRequest, refused } from '../../../lib/errors.ts'
import { compiledModule } from '../../../lib/package-files.ts'
import { ThreadLimitExceeded } from '../../../lib/thread.ts'
import { runInThread, type WorkOwner } from '../../../lib/threads.ts'
import { readJunit } from './junit.ts'
import { parseJson, readJsonResults } from './read-json.ts'
import { mostResults, type TestResult } from './results.ts'
import { XmlError } from './xml.ts'

export const mostUploadBytes = 32 * 1024 * 1024
const mostInflatedBytes = 64 * 1024 * 1024
export const mostCpuMs = 20_000

interface Sent {
  contentEncoding: string
  bytes: Uint8Array
}

export interface Report extends Sent {
  jobId: string
  /** The file's name in the checkout. */
  path: string
  format: 'junit' | 'json'
}

export interface ReadResults {
  /** JSON lists of results, sorted by their tests, each small enough for one statement. */
  batches: string[]
  count: number
  /** Ids of failed results. */
  failedIds: string[]
  /** The number of invalid results. */
  skipped: number
}

/** Small files too: XML of a few kilobytes can be slow to read. */
export function readReport(report: Report, owner: WorkOwner): Promise<ReadResults> {
  const module = compiledModule('resources/tests/test_runs/read-report.ts')
  return runInThread<typeof readReportHere>(owner, module, 'readReportHere', report, mostCpuMs).catch(
    (error: unknown) => {
      throw error instanceof ThreadLimitExceeded ? refused('The file takes too long to read.') : error
    },
  )
}

export async function readReportHere(report: Report): Promise<ReadResults> {
  const bytes = await inflate(report)
  return gatherResults(withSteadyIds(report, readAs(report.format, bytes.toString())))
}

function* withSteadyIds(
  { jobId, path }: Report,
  results: Iterable<TestResult | null>,
): Generator<TestResult | null> {
  let position = 0
  for (const result of results) {
    yield result === null ? null : { ...result, id: steadyId(jobId, path, position) }
    position += 1
  }
}

function* readAs(format: Report['format'], text: string): Generator<TestResult | null> {
  if (format === 'json') return yield* readJsonResults(parseJson(text))
  let isEmpty = true
  try {
    for (const result of readJunit(text)) {
      yield result
      isEmpty = false
    }
  } catch (error) {
    if (!(error instanceof XmlError)) throw error
    throw refused(`The XML cannot be read: ${error.message}.`)
  }
  if (isEmpty && !/<testsuites?[\s/>]/.test(text)) {
    throw refused('The XML is no JUnit: it has no test suite.')
  }
}

/** An agent and an artifact may bring the same file, and a request may be repeated. */
function steadyId(jobId: string, path: string, position: number): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([jobId, path, position]))
    .digest('hex')
  return hash.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** Null is an invalid result. */
export function gatherResults(read: Iterable<TestResult | null>): ReadResults {
  const results: TestResult[] = []
  let skipped = 0
  for (const result of read) {
    if (result === null) skipped += 1
    else results.push(result)
    if (results.length + skipped > mostResults) throw refused(`An upload has at most ${mostResults} results.`)
  }
  const failedIds = results.flatMap(({ id, result }) => (result === 'failed' ? [id] : []))
  return { batches: batch(sortByTest(results)), count: results.length, failedIds, skipped }
}

/** Uploads of a suite lock the rows of their tests in this order (add-results.ts). */
const sortByTest = (results: readonly TestResult[]): TestResult[] =>
  results
    .map((result) => ({ key: `${result.scope}\u001F${result.name}`, result }))
    .toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ result }) => result)

const batchCharacters = 512 * 1024

function batch(results: readonly TestResult[]): string[] {
  const batches: string[] = []
  let pieces: string[] = []
  let characters = 0
  for (const [index, result] of results.entries()) {
    const text = JSON.stringify(result)
    pieces.push(text)
    characters += text.length
    if (characters < batchCharacters && index < results.length - 1) continue
    batches.push(`[${pieces.join(',')}]`)
    pieces = []
    characters = 0
  }
  return batches
}

export async function inflate({ contentEncoding, bytes }: Sent): Promise<Buffer> {
  if (contentEncoding === '' || contentEncoding === 'identity') return Buffer.from(bytes)
  if (contentEncoding !== 'gzip')
    throw badRequest('The body may be compressed with gzip, and with nothing else.')
  try {
    return await promisify(gunzip)(bytes, { maxOutputLength: mostInflatedBytes })
  } catch (error) {
    throw badRequest(
      `The body cannot be decompressed: ${error instanceof Error ? error.message : 'unreadable'}`,
    )
  }
}
