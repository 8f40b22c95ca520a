import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApp, type TestApp } from '../../../test/app.ts'
import {
  aFile,
  announce,
  batchOf,
  here,
  read,
  report,
  send,
  show,
  upload,
} from '../../../test/artifact-files.ts'
import { aBucket, type Bucket } from '../../../../../testbed/src/bucket.ts'
import { aRunningJob } from '../../../test/job-runs.ts'

const mebibyte = 1024 * 1024

// Files large enough to come in parts take their time on a busy machine.
describe('artifacts in S3', () => {
  let bucket: Bucket
  let proxied: TestApp
  let direct: TestApp
  beforeAll(async () => {
    bucket = await aBucket()
    const parts = { MILLRACE_ARTIFACT_PART_MIB: '10' }
    proxied = await startApp({ env: { ...bucket.env('ci'), ...parts } })
    direct = await startApp({ env: { ...bucket.env('ci', '&direct=on'), ...parts } }, proxied.database)
  })
  afterAll(async () => {
    await direct.close()
    await proxied.close()
    await bucket.close()
  })

  const small = aFile('dir/small.txt', 'small')
  const large = aFile('large.bin', Buffer.alloc(11 * mebibyte, 'x'))

  it('go through this server, by form and in parts', async () => {
    const scene = await aRunningJob(proxied)
    const ids = await upload(proxied, scene.run, [small, large])
    expect(String(await read(proxied, scene, ids[0]))).toBe('small')
    expect((await read(proxied, scene, ids[1])).equals(large.content)).toBe(true)
    expect((await bucket.keys()).every((key) => key.startsWith('ci/artifacts/'))).toBe(true)
    const [wrong = ''] = await upload(proxied, scene.run, [
      aFile('x', 'x', { announced: { sha1sum: 'a'.repeat(40) } }),
    ])
    expect((await show(proxied, scene, wrong)).state).toBe('error')
    expect((await bucket.keys()).some((key) => key.includes(wrong))).toBe(false)
    await proxied.request('DELETE', `${scene.short}/artifacts/${ids[1]}`, { token: scene.admin.token })
    expect((await bucket.keys()).some((key) => key.includes(ids[1] ?? '-'))).toBe(false)
  })

  it('go straight to the store where that is switched on, and are checked before they count', async () => {
    const scene = await aRunningJob(direct)
    const answer = batchOf(await announce(scene.run, [small, large, aFile('empty', '')]))
    const instructions = answer.artifact_ids.map((id) => answer.per_artifact_instructions?.[id])
    expect(instructions.map((each) => each?.actions?.length)).toEqual([1, 2, 1])
    expect(
      instructions.flatMap((each) => each?.actions ?? []).every(({ url }) => url.startsWith(bucket.endpoint)),
    ).toBe(true)
    const ids = await upload(direct, scene.run, [small, large, aFile('empty', '')])
    for (const id of ids) expect((await show(direct, scene, id)).state).toBe('finished')
    const { body } = await direct.request('GET', `${scene.long}/artifacts/${ids[0]}/download`, {
      token: scene.admin.token,
    })
    const file = await fetch(here(direct, String(body.url)))
    expect([file.url.startsWith(bucket.endpoint), await file.text()]).toEqual([true, 'small'])
    expect(file.headers.get('content-type')).toBe('text/plain')
    expect(file.headers.get('content-disposition')).toContain('small.txt')
  })

  it('are for those who have the address of a download for 60 seconds in all, however late they ask', async () => {
    const scene = await aRunningJob(direct)
    const [id] = await upload(direct, scene.run, [small])
    const { now } = direct.ctx
    const at = now().getTime()
    try {
      direct.ctx.now = () => new Date(at)
      const { body } = await direct.request('GET', `${scene.short}/artifacts/${id}/download`, {
        token: scene.admin.token,
      })
      const address = here(direct, String(body.url))
      const head = await fetch(address, { method: 'HEAD' })
      expect([head.status, head.url, head.headers.get('content-length')]).toEqual([200, address, '5'])
      direct.ctx.now = () => new Date(at + 50_000)
      const { headers } = await fetch(address, { redirect: 'manual' })
      const place = new URL(headers.get('location') ?? '')
      expect(place.origin).toBe(bucket.endpoint)
      // The times of an address are in whole seconds.
      expect(place.searchParams.get('X-Amz-Expires')).toMatch(/^(9|10|11)$/)
    } finally {
      direct.ctx.now = now
    }
  })

  it('straight to the store make an error too when they are not what was announced', async () => {
    const scene = await aRunningJob(direct)
    const answer = batchOf(await announce(scene.run, [small]))
    const [id = ''] = answer.artifact_ids
    const sent = await send(direct, answer.per_artifact_instructions?.[id] ?? {}, aFile('x', 'smaLL'))
    expect(sent.status).toBe(200)
    await report(scene.run, [{ id, state: 'finished' }])
    expect((await show(direct, scene, id)).state).toBe('error')
    expect((await bucket.keys()).some((key) => key.includes(id))).toBe(false)
  })
})
