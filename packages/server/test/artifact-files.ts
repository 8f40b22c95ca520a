// The artifact requests of agents: announce, upload, report. URLs in answers have the installation's host, which is not the
// address of the test server.
import { createHash, randomUUID } from 'node:crypto'
import type { ArtifactBatchResponse, UploadInstructions } from '@millrace/protocol/artifacts.ts'
import type { TestRun, AgentAnswer } from './agent-client.ts'
import { baseUrl, type Json, type TestApp } from './app.ts'
import type { RunningScene } from './job-runs.ts'

export interface TestFile {
  path: string
  content: Buffer
  type?: string
  /** Announced instead of the true value. */
  announced?: Record<string, unknown>
}

export const aFile = (
  path: string,
  content: string | Buffer = `content of ${path}`,
  more: Partial<TestFile> = {},
): TestFile => ({
  path,
  content: Buffer.from(content),
  ...more,
})

const digest = (algorithm: string, content: Buffer) => createHash(algorithm).update(content).digest('hex')

const announced = ({ path, content, type = 'text/plain', announced: other = {} }: TestFile) => ({
  id: '',
  job_id: '',
  path,
  absolute_path: `/builds/${path}`,
  glob_path: '',
  file_size: content.length,
  sha1sum: digest('sha1', content),
  sha256sum: digest('sha256', content),
  content_type: type,
  created_at: '0001-01-01T00:00:00Z',
  ...other,
})

export const announce = (
  run: TestRun,
  files: readonly TestFile[],
  more: Record<string, unknown> = {},
): Promise<AgentAnswer> =>
  run.call('POST', `jobs/${run.id}/artifacts`, {
    body: {
      id: randomUUID(),
      upload_destination: '',
      multipart_supported: true,
      artifacts: files.map(announced),
      ...more,
    },
  })

export const here = (app: TestApp, url: string): string => url.replace(baseUrl, app.address)

/** Uploads a file according to the instructions. */
export async function send(
  app: TestApp,
  instructions: UploadInstructions,
  file: TestFile,
): Promise<{ status: number; text: string; etags: string[] }> {
  const { action, actions, data = {} } = instructions
  if (actions !== undefined) return sendParts(app, actions, file)
  if (action === undefined) throw new Error('The instructions say nothing.')
  const form = new FormData()
  for (const [name, value] of Object.entries(data))
    form.set(name, value.replaceAll('${artifact:path}', file.path))
  form.set(action.file_input, new Blob([file.content]), file.path)
  const url = new URL(here(app, action.url))
  url.pathname = action.path
  const response = await fetch(url, { method: action.method, body: form })
  return { status: response.status, text: await response.text(), etags: [] }
}

async function sendParts(
  app: TestApp,
  actions: NonNullable<UploadInstructions['actions']>,
  { content }: TestFile,
) {
  const size = Math.ceil(content.length / actions.length)
  const answers = await Promise.all(
    actions.toReversed().map(async ({ url, method, part_number }) => {
      const body = content.subarray((part_number - 1) * size, part_number * size)
      const response = await fetch(here(app, url), {
        method: method === 'PUT' ? 'PUT' : 'POST',
        body,
        headers: { 'Content-Type': 'text/plain' },
      })
      return {
        status: response.status,
        text: await response.text(),
        etag: response.headers.get('etag') ?? '',
      }
    }),
  )
  const worst = answers.toSorted((a, b) => b.status - a.status)[0]
  return {
    status: worst?.status ?? 0,
    text: worst?.text ?? '',
    etags: answers.toReversed().map(({ etag }) => etag),
  }
}

export const report = (
  run: TestRun,
  entries: ReadonlyArray<{ id: string; state: string; etags?: string[] }>,
): Promise<AgentAnswer> =>
  run.call('PUT', `jobs/${run.id}/artifacts`, {
    body: {
      artifacts: entries.map(({ id, state, etags = [] }) => ({
        id,
        state,
        ...(etags.length > 1
          ? {
              multipart: true,
              multipart_etags: etags.map((etag, index) => ({ part_number: index + 1, etag })),
            }
          : {}),
      })),
    },
  })

export const batchOf = (answer: AgentAnswer): ArtifactBatchResponse => {
  if (answer.status !== 200) throw new Error(`artifacts: ${answer.text}`)
  return answer.body as unknown as ArtifactBatchResponse
}

/** Announces, uploads and reports. Returns the ids in the order of the files. */
export async function upload(
  app: TestApp,
  run: TestRun,
  files: readonly TestFile[],
  more: Record<string, unknown> = {},
): Promise<string[]> {
  const { artifact_ids: ids, per_artifact_instructions: instructions = {} } = batchOf(
    await announce(run, files, more),
  )
  const entries = await Promise.all(
    files.map(async (file, index) => {
      const id = ids[index] ?? ''
      const sent = await send(app, instructions[id] ?? {}, file)
      return { id, state: sent.status < 300 ? 'finished' : 'error', etags: sent.etags }
    }),
  )
  const answer = await report(run, entries)
  if (answer.status !== 200) throw new Error(`artifact states: ${answer.text}`)
  return ids
}

/** The artifact in the REST API. */
export const show = async (
  app: TestApp,
  { short, admin }: RunningScene,
  id: string | undefined,
): Promise<Json> => (await app.request('GET', `${short}/artifacts/${id}`, { token: admin.token })).body

/** Downloads its file. */
export async function read(
  app: TestApp,
  { short, admin }: RunningScene,
  id: string | undefined,
): Promise<Buffer> {
  const { body } = await app.request('GET', `${short}/artifacts/${id}/download`, { token: admin.token })
  const response = await fetch(here(app, String(body.url)))
  return Buffer.from(await response.arrayBuffer())
}
