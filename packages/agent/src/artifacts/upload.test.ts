import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ArtifactBatchRequest, ArtifactStatesRequest } from '@millrace/protocol/artifacts.ts'
import { aCounterpart, aFolder, hastyClock } from '../../test/agent.ts'
import type { Counterpart, ReceivedRequest } from '../../test/counterpart.ts'
import { openSession } from '../http/session.ts'
import { uploadArtifacts } from './upload.ts'

async function setUp() {
  const server = await aCounterpart()
  const folder = await aFolder()
  const api = { session: openSession(server.endpoint, 'job-token'), clock: hastyClock }
  const said: string[] = []
  const say = (line: string) => said.push(line)
  const upload = (patterns: string) =>
    uploadArtifacts(api, { jobId: 'j1', patterns, folder, destination: '', env: {}, say })
  return { server, folder, upload, said }
}

function idsOf(request: ReceivedRequest): string[] {
  const { artifacts } = JSON.parse(request.body.toString()) as ArtifactBatchRequest
  return artifacts.map(({ path }) => `id of ${path}`)
}

/** Every artifact goes to `/uploads` as a form. */
function takeForms(server: Counterpart): void {
  server.answer(/^POST \/v3\/jobs\/j1\/artifacts/, (request) => ({
    status: 201,
    body: {
      id: 'batch',
      artifact_ids: idsOf(request),
      upload_instructions: {
        data: { path: '${artifact:path}', ticket: 'signed' },
        action: {
          url: `${server.origin}/ignored?keep=1`,
          method: 'POST',
          path: '/uploads',
          file_input: 'file',
        },
      },
    },
  }))
}

function states(server: Counterpart) {
  return server
    .find(/^PUT \/v3\/jobs\/j1\/artifacts/)
    .flatMap(({ body }) => (JSON.parse(body.toString()) as ArtifactStatesRequest).artifacts)
}

describe('uploadArtifacts', () => {
  it('announces each file with its hashes, sends it as the last field of a form and reports it', async () => {
    const { server, folder, upload } = await setUp()
    takeForms(server)
    await mkdir(join(folder, 'a b'))
    await writeFile(join(folder, 'a b', 'é "1".txt'), 'hello')
    await upload('a b/*')
    const [announced] = (
      JSON.parse(String(server.find(/^POST .*artifacts/)[0]?.body)) as ArtifactBatchRequest
    ).artifacts
    expect(announced).toEqual({
      path: 'a b/é "1".txt',
      absolute_path: join(folder, 'a b', 'é "1".txt'),
      file_size: 5,
      sha1sum: createHash('sha1').update('hello').digest('hex'),
      sha256sum: createHash('sha256').update('hello').digest('hex'),
      content_type: 'text/plain; charset=utf-8',
    })
    const [form] = server.find(/^POST \/uploads\?keep=1$/)
    expect(form?.headers.authorization).toBeUndefined()
    expect(Number(form?.headers['content-length'])).toBe(form?.body.length)
    const fields = form?.body.toString().split(/--millrace-\w+(?:--)?\r\n/) ?? []
    expect(fields).toEqual([
      '',
      'Content-Disposition: form-data; name="path"\r\n\r\na b/é "1".txt\r\n',
      'Content-Disposition: form-data; name="ticket"\r\n\r\nsigned\r\n',
      'Content-Disposition: form-data; name="file"; filename="a b/é \\"1\\".txt"\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nhello\r\n',
      '',
    ])
    expect(states(server)).toEqual([{ id: 'id of a b/é "1".txt', state: 'finished' }])
  })

  it('takes 31 files in two batches, and files of 0 and 1 bytes', async () => {
    const { server, folder, upload } = await setUp()
    takeForms(server)
    for (let count = 0; count < 31; count += 1)
      await writeFile(join(folder, `${count}.bin`), count % 2 ? 'x' : '')
    expect(await upload('*.bin')).toBe(31)
    const sizes = server.find(/^POST .*artifacts/).map((request) => idsOf(request).length)
    expect(sizes).toEqual([30, 1])
    expect(states(server).every(({ state }) => state === 'finished')).toBe(true)
    expect(states(server)).toHaveLength(31)
  })

  it('sends large files in parts and reports their tags', async () => {
    const { server, folder, upload } = await setUp()
    server.answer(/^POST \/v3\/jobs\/j1\/artifacts/, (request) => {
      const actions = [1, 2, 3].map((part) => ({
        url: `${server.origin}/part/${part}`,
        method: 'PUT',
        part_number: part,
      }))
      const [id = ''] = idsOf(request)
      return {
        status: 200,
        body: { id: 'b', artifact_ids: [id], per_artifact_instructions: { [id]: { actions } } },
      }
    })
    server.answer(/^PUT \/part/, ({ path }) => ({ status: 200, headers: { ETag: `"tag ${path}"` } }))
    await writeFile(join(folder, 'big.bin'), '0123456789')
    await upload('big.bin')
    expect(server.find(/^PUT \/part/).map(({ body }) => body.toString())).toEqual(['012', '345', '6789'])
    expect(states(server)).toEqual([
      {
        id: 'id of big.bin',
        state: 'finished',
        multipart: true,
        multipart_etags: [1, 2, 3].map((part) => ({ part_number: part, etag: `"tag /part/${part}"` })),
      },
    ])
  })

  it('tries again, then reports the file that failed and uploads the others', async () => {
    const { server, folder, upload } = await setUp()
    takeForms(server)
    server.answer(/^POST \/uploads/, ({ body }) => (body.includes('bad.txt') ? { status: 500 } : null))
    let count = 0
    server.answer(/^POST \/uploads/, ({ body }) => {
      count += body.includes('good.txt') ? 1 : 0
      return body.includes('good.txt') && count === 1 ? { status: 503 } : null
    })
    await writeFile(join(folder, 'bad.txt'), 'x')
    await writeFile(join(folder, 'good.txt'), 'x')
    await expect(upload('*.txt')).rejects.toThrow('1 of 2 artifacts')
    expect(states(server).map(({ id, state }) => `${id} ${state}`)).toEqual([
      'id of bad.txt error',
      'id of good.txt finished',
    ])
    expect(count).toBe(2)
  })

  it('says so when there is nothing to upload', async () => {
    const { server, upload, said } = await setUp()
    expect(await upload('*.txt')).toBe(0)
    expect(said).toEqual(['No files match *.txt'])
    expect(server.received).toEqual([])
  })
})
