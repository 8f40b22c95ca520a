// Reads uploads of test collectors: JSON, or a form with a file in it; either may be compressed.
import { badRequest, refused } from '../../lib/errors.ts'
import { compiledModule } from '../../lib/package-files.ts'
import { ThreadLimitExceeded } from '../../lib/thread.ts'
import { runInThread, type WorkOwner } from '../../lib/threads.ts'
import { readJunit } from '../../resources/tests/test_runs/junit.ts'
import {
  gatherResults,
  inflate,
  mostCpuMs,
  type ReadResults,
} from '../../resources/tests/test_runs/read-report.ts'
import { parseJson, readJsonResults } from '../../resources/tests/test_runs/read-json.ts'
import { clean } from '../../resources/tests/test_runs/clean.ts'
import type { TestResult } from '../../resources/tests/test_runs/results.ts'
import { mergeTags, readTags, type Tags } from '../../resources/tests/test_runs/tags.ts'
import type { RunEnv } from '../../resources/tests/test_runs/store.ts'
import { XmlError } from '../../resources/tests/test_runs/xml.ts'

const mostInlineBytes = 16 * 1024

type Upload = ReadResults & { env: RunEnv }

interface SentBody {
  contentType: string
  contentEncoding: string
  bytes: Uint8Array
}

/** A small compressed body may expand to a large one, so only uncompressed bodies are read here. */
export async function readUpload(sent: SentBody, owner: WorkOwner): Promise<Upload> {
  if (sent.contentEncoding === '' && sent.bytes.length <= mostInlineBytes) return readHere(sent)
  const module = compiledModule('agent-api/tests/read-test-upload.ts')
  return runInThread<typeof readHere>(owner, module, 'readHere', sent, mostCpuMs).catch((error: unknown) => {
    throw error instanceof ThreadLimitExceeded ? refused('The upload takes too long to read.') : error
  })
}

export async function readHere(sent: SentBody): Promise<Upload> {
  const bytes = await inflate(sent)
  const isForm = /^multipart\/form-data\b/i.test(sent.contentType)
  const { format, env, tags, data } = isForm ? await readForm(sent.contentType, bytes) : readJson(bytes)
  const results = gatherResults(withTags(readData(format, data), tags))
  return { env: readEnv(env), ...results }
}

interface Parts {
  format: string
  /** The texts of `run_env`. */
  env: Map<string, string>
  /** Of all its results. */
  tags: Tags | null
  /** The text of the file, or the parsed JSON. */
  data: unknown
}

function readJson(bytes: Buffer): Parts {
  const body = parseJson(bytes.toString())
  const field = (key: string): unknown =>
    typeof body === 'object' && body !== null ? Reflect.get(body, key) : undefined
  const format = field('format')
  return {
    format: typeof format === 'string' ? format : 'json',
    env: new Map(Object.entries(field('run_env') ?? {}).map(([key, value]) => [key, scalar(value)])),
    tags: readTags(field('tags')),
    data: field('data'),
  }
}

/** Some collectors send build numbers as numbers. */
const scalar = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : ''

async function readForm(contentType: string, bytes: Buffer): Promise<Parts> {
  const form = await new Response(bytes, { headers: { 'Content-Type': contentType } })
    .formData()
    .catch(() => {
      throw badRequest('The form cannot be read.')
    })
  const text = async (value: string | Blob | null) => (value instanceof Blob ? value.text() : (value ?? ''))
  const env = new Map<string, string>()
  const tags = new Map<string, string>()
  for (const [key, value] of form) {
    if (!key.endsWith(']')) continue
    if (key.startsWith('run_env[')) env.set(key.slice(8, -1), await text(value))
    else if (key.startsWith('tags[')) tags.set(key.slice(5, -1), await text(value))
  }
  return {
    format: await text(form.get('format')),
    env,
    tags: readTags(Object.fromEntries(tags)),
    data: await text(form.get('data')),
  }
}

function* withTags(results: Iterable<TestResult | null>, tags: Tags | null): Generator<TestResult | null> {
  for (const result of results) {
    yield result === null ? null : { ...result, tags: mergeTags(result.tags, tags) }
  }
}

function* readData(format: string, data: unknown): Generator<TestResult | null> {
  if (format === 'junit') {
    try {
      yield* readJunit(typeof data === 'string' ? data : '')
    } catch (error) {
      if (!(error instanceof XmlError)) throw error
      throw refused(`The XML cannot be read: ${error.message}.`)
    }
  } else if (format === 'json') {
    yield* readJsonResults(typeof data === 'string' ? parseJson(data) : data)
  } else throw refused('Format must be json or junit.')
}

function readEnv(env: ReadonlyMap<string, string>): RunEnv {
  const value = (key: string) => clean(env.get(key) ?? '', 500) || null
  const key = value('key')
  if (key === null) throw refused('Run_env.key is missing: it says which uploads are one run.')
  return { key, branch: value('branch'), commitSha: value('commit_sha'), jobId: value('job_id') }
}
