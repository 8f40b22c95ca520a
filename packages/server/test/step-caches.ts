// The cache requests of agents: restore, announce, upload, save.
import { createHash } from 'node:crypto'
import type {
  StepCacheRestoreResponse,
  StepCacheUploadsResponse,
  StoredCacheBlob,
} from '@millrace/protocol/step-caches.ts'
import type { AgentAnswer, TestRun } from './agent-client.ts'
import type { TestApp } from './app.ts'

export const sha256 = (content: string): string => createHash('sha256').update(content).digest('hex')

export const blobOf = (content: string) => ({ digest: sha256(content), size: content.length })

const platform = 'linux-x64'

/** `given` has the key and paths of a cache that is not the step's. */
export async function restore(
  run: TestRun,
  on = platform,
  given: object = {},
): Promise<StepCacheRestoreResponse> {
  const answer = await run.call('POST', `jobs/${run.id}/cache/restore`, { body: { platform: on, ...given } })
  if (answer.status !== 200) throw new Error(`restore: ${answer.text}`)
  return answer.body as unknown as StepCacheRestoreResponse
}

export const announce = (run: TestRun, contents: readonly string[]): Promise<AgentAnswer> =>
  run.call('POST', `jobs/${run.id}/cache/uploads`, { body: { blobs: contents.map(blobOf) } })

export const uploadsOf = (answer: AgentAnswer): StepCacheUploadsResponse['uploads'] => {
  if (answer.status !== 200) throw new Error(`uploads: ${answer.text}`)
  return (answer.body as unknown as StepCacheUploadsResponse).uploads
}

/** Addresses are relative to the agent's endpoint, or those of the store. */
const at = (app: TestApp, url: string) => new URL(url, `${app.address}/v3/`)

export const put = (app: TestApp, url: string, body: string, headers: Record<string, string> = {}) =>
  fetch(at(app, url), { method: 'PUT', body, headers })

async function read(app: TestApp, { url }: Pick<StoredCacheBlob, 'url'>): Promise<string> {
  const response = await fetch(at(app, url))
  return response.status === 200 ? await response.text() : `status ${response.status}`
}

/** The first of the contents is the manifest. Sends what is missing. Returns how much that was, and the answer to the save. */
export async function saveContents(
  app: TestApp,
  run: TestRun,
  contents: readonly string[],
  { on = platform, files = 1, given = {} } = {},
): Promise<{ sent: number; answer: AgentAnswer }> {
  const uploads = uploadsOf(await announce(run, contents))
  for (const { digest, url } of uploads) {
    const content = contents.find((each) => sha256(each) === digest) ?? ''
    const { status } = await put(app, url, content)
    if (status !== 200) throw new Error(`upload: ${status}`)
  }
  const ids = new Map(uploads.map(({ digest, upload_id }) => [digest, upload_id]))
  const [manifest, ...blobs] = contents
    .map(blobOf)
    .map((blob) => ({ ...blob, upload_id: ids.get(blob.digest) ?? null }))
  const body = { platform: on, ...given, manifest, blobs, file_count: files }
  return { sent: uploads.length, answer: await run.call('PUT', `jobs/${run.id}/cache`, { body }) }
}

/** The contents of the restored cache with its branch; null: there is none. */
export async function restored(
  app: TestApp,
  run: TestRun,
  on = platform,
  given: object = {},
): Promise<string[] | null> {
  const { cache } = await restore(run, on, given)
  if (cache === null) return null
  const contents = await Promise.all([cache.manifest, ...cache.blobs].map((blob) => read(app, blob)))
  return [cache.branch, ...contents]
}
