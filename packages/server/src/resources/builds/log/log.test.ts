import { gzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { describe, expect, it, vi } from 'vitest'
import { baseUrl, useOwnApp } from '../../../../test/app.ts'
import { aMember, aToken, auditTrail } from '../../../../test/builders.ts'
import {
  aRunningJob,
  compactLogs,
  endLongAgo,
  jobsOfOneWorld,
  sendChunk,
  sendLog,
  type RunningScene,
} from '../../../../test/job-runs.ts'
import { jobNamed } from '../../../../test/runs.ts'
import { deleteUnclaimed } from '../../../blobs/unclaimed.ts'
import { newId } from '../../../lib/ids.ts'

const app = useOwnApp({ env: { MILLRACE_LOG_MAX_BYTES: '100000' } })
const aJob = jobsOfOneWorld(app)

const plain = { Accept: 'text/plain' }
const textOf = async ({ long, admin }: RunningScene) =>
  (await app.request('GET', `${long}/log`, { token: admin.token, headers: plain })).text
const chunksOf = async (jobId: string) => {
  const { rows } = await sql`select from job_log_chunks where job_id = ${jobId}`.execute(app.db)
  return rows.length
}
const blobOf = (jobId: string) =>
  app.db.selectFrom('job_logs').select(['blob_key', 'size']).where('job_id', '=', jobId).executeTakeFirst()

/** A log is stored in chunks first, and in the blob store after compaction. */
const lives = [
  { life: 'a running job', prepare: async () => {} },
  {
    life: 'a finished log',
    prepare: async ({ run }: RunningScene) => {
      await endLongAgo(app, run)
      await compactLogs(app.ctx)
      expect(await chunksOf(run.id)).toBe(0)
    },
  },
]

describe.each(lives)('GET …/jobs/{job.id}/log of $life', ({ prepare }) => {
  const content =
    '\x1b_bk;t=1700000000123\x07--- Setup\r\nnaïve "€" \\ <b>\r\n\x1b_bk;t=1700000001456\x07\x1b[31m+++ Tests\x1b[0m\r\nok'

  it('answers on both routes with url, content, size and header_times', async () => {
    const scene = await aJob()
    await sendLog(app, scene.run, content)
    await prepare(scene)
    const withoutTimes = '--- Setup\r\nnaïve "€" \\ <b>\r\n\x1b[31m+++ Tests\x1b[0m\r\nok'
    const requests = [
      { path: `${scene.short}/log`, shown: withoutTimes },
      { path: `${scene.long}/log`, shown: withoutTimes },
      { path: `${scene.long}/log?timestamps=true`, shown: content },
    ]
    for (const { path, shown } of requests) {
      const answer = await app.request('GET', path, { token: scene.admin.token })
      expect(answer.status).toBe(200)
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
      expect(answer.body).toEqual({
        url: `${baseUrl}${scene.long}/log`,
        content: shown,
        size: Buffer.byteLength(content),
        header_times: [1700000000123000000, 1700000001456000000],
      })
      expect(answer.text).toContain('"header_times":[1700000000123000000,1700000001456000000]')
    }
  })

  it.each(['/log?raw=true', '/log.txt?raw=true'])(
    'answers %s byte by byte as the agent sent it',
    async (path) => {
      const scene = await aJob()
      const bytes = Buffer.concat([Buffer.from(content), Buffer.from([0xff, 0x00, 0xc3])])
      await sendLog(app, scene.run, bytes)
      await prepare(scene)
      for (const form of [scene.short, scene.long]) {
        const response = await fetch(`${app.address}${form}${path}`, {
          headers: { ...plain, Authorization: `Bearer ${scene.admin.token}` },
        })
        expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
        expect(response.headers.get('content-length')).toBe(String(bytes.length))
        expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true)
      }
    },
  )

  it.each([
    { query: '', text: '--- Setup\r\nnaïve "€" \\ <b>\r\n+++ Tests\r\nok' },
    { query: '?ansi=true', text: '--- Setup\r\nnaïve "€" \\ <b>\r\n\x1b[31m+++ Tests\x1b[0m\r\nok' },
  ])(
    'answers log.txt$query without time codes, and HEAD and ranges in its bytes',
    async ({ query, text }) => {
      const scene = await aJob()
      await sendLog(app, scene.run, content)
      await prepare(scene)
      const { token } = scene.admin
      const size = Buffer.byteLength(text)
      for (const path of [`${scene.short}/log.txt${query}`, `${scene.long}/log.txt${query}`]) {
        const whole = await app.request('GET', path, { token })
        expect([whole.headers.get('content-type'), whole.text]).toEqual(['text/plain; charset=utf-8', text])
        const tail = await app.request('GET', path, { token, headers: { Range: 'bytes=-9' } })
        expect([tail.status, tail.text]).toEqual([206, text.slice(-9)])
        expect(tail.headers.get('content-range')).toBe(`bytes ${size - 9}-${size - 1}/${size}`)
        const head = await app.request('HEAD', path, { token })
        expect([head.status, head.headers.get('content-length')]).toEqual([200, String(size)])
      }
    },
  )

  it('answers with a page without scripts, by Accept and by suffix', async () => {
    const scene = await aJob()
    await sendLog(app, scene.run, content)
    await prepare(scene)
    const requests = [
      { path: `${scene.short}/log.html`, headers: {} },
      { path: `${scene.long}/log`, headers: { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } },
    ]
    for (const { path, headers } of requests) {
      const answer = await app.request('GET', path, { token: scene.admin.token, headers })
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(answer.headers.get('content-security-policy')).toContain('sandbox')
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
      expect(answer.text).toContain('naïve &quot;€&quot; \\ &lt;b&gt;')
      expect(answer.text).not.toContain('bk;t=')
    }
  })

  it('answers bytes=-N of the text with 206 and says which bytes they are', async () => {
    const scene = await aJob()
    await sendLog(app, scene.run, '0123456789')
    await prepare(scene)
    const last = (range: string, path = '/log') =>
      app.request('GET', `${scene.long}${path}`, {
        token: scene.admin.token,
        headers: { ...plain, Range: range },
      })
    const tail = await last('bytes=-3')
    expect([tail.status, tail.text]).toEqual([206, '789'])
    expect(tail.headers.get('content-range')).toBe('bytes 7-9/10')
    expect(tail.headers.get('accept-ranges')).toBe('bytes')
    expect(tail.headers.get('content-length')).toBe('3')
    const more = await last('bytes=-11', '/log.txt')
    expect([more.status, more.text, more.headers.get('content-range')]).toEqual([
      206,
      '0123456789',
      'bytes 0-9/10',
    ])
  })

  it.each(['', '?raw=true', '?ansi=true'])('answers any range of bytes of log.txt%s', async (query) => {
    const scene = await aJob()
    await sendLog(app, scene.run, '0123456789')
    await prepare(scene)
    const part = async (range: string) => {
      const { status, text, headers } = await app.request('GET', `${scene.short}/log.txt${query}`, {
        token: scene.admin.token,
        headers: { Range: range },
      })
      return [status, text, headers.get('content-range'), headers.get('content-length')]
    }
    expect(await part('bytes=0-0')).toEqual([206, '0', 'bytes 0-0/10', '1'])
    expect(await part('bytes=2-4')).toEqual([206, '234', 'bytes 2-4/10', '3'])
    expect(await part('bytes=8-99')).toEqual([206, '89', 'bytes 8-9/10', '2'])
    expect(await part('bytes=7-')).toEqual([206, '789', 'bytes 7-9/10', '3'])
    expect((await part('bytes=10-'))[0]).toBe(416)
  })

  it('answers HEAD with the size', async () => {
    const scene = await aJob()
    await sendLog(app, scene.run, '0123456789')
    await prepare(scene)
    for (const path of [scene.short, scene.long]) {
      const answer = await app.request('HEAD', `${path}/log`, { token: scene.admin.token })
      expect([answer.status, answer.text]).toEqual([200, ''])
      expect(answer.headers.get('content-length')).toBe('10')
      expect(answer.headers.get('accept-ranges')).toBe('bytes')
    }
  })
})

describe('GET …/jobs/{job.id}/log', () => {
  it.each(['bytes=5-3', 'bytes=-', 'bytes=-0', 'bytes=0-1,3-4', 'bytes=-1,-2', 'lines=-3', 'bytes=-x'])(
    'refuses the range %s with 400',
    async (range) => {
      const { long, admin, run } = await aJob()
      await sendLog(app, run, '0123456789')
      const answer = await app.request('GET', `${long}/log`, {
        token: admin.token,
        headers: { ...plain, Range: range },
      })
      expect([answer.status, Object.keys(answer.body)]).toEqual([400, ['message']])
    },
  )

  it('refuses a range with 400 unless the text is requested, and with 416 for an empty log', async () => {
    const { long, admin } = await aJob()
    const headers = { Range: 'bytes=-3' }
    expect((await app.request('GET', `${long}/log`, { token: admin.token, headers })).status).toBe(400)
    const empty = await app.request('GET', `${long}/log`, {
      token: admin.token,
      headers: { ...headers, ...plain },
    })
    expect([empty.status, empty.body]).toEqual([416, { message: 'The log is empty.' }])
  })

  it('is empty for a job that has not started, whose HEAD is 404; other kinds of jobs have no log', async () => {
    const { org, admin, build, buildPath } = await aRunningJob(
      app,
      '{steps: [{command: one}, {command: two}, {wait: }]}',
    )
    const url = `${org.path}/jobs/${await jobNamed(app, build, 'two')}/log`
    const answer = await app.request('GET', url, { token: admin.token })
    expect(answer.body).toMatchObject({ content: '', size: 0, header_times: [] })
    expect((await app.request('HEAD', url, { token: admin.token })).status).toBe(404)
    const wait = `${buildPath}/jobs/${await jobNamed(app, build, 'waiter')}/log`
    expect((await app.request('GET', wait, { token: admin.token })).body).toEqual({ message: 'No log found' })
    expect((await app.request('DELETE', wait, { token: admin.token })).status).toBe(404)
  })

  it('prefers the header times that an agent reports to those in the output', async () => {
    const scene = await aJob()
    await sendLog(app, scene.run, '--- One\nx\n--- Two\n')
    const report = (times: object) =>
      scene.run.call('POST', `jobs/${scene.run.id}/header_times`, { body: { header_times: times } })
    expect(
      (await report({ 1: '2026-01-02T03:04:05.123456789Z', 2: 'nonsense', x: '2026-01-02T03:04:05Z' }))
        .status,
    ).toBe(200)
    expect((await report({ 0: '2026-01-02T03:04:04+00:00' })).status).toBe(200)
    const answer = await app.request('GET', `${scene.long}/log`, { token: scene.admin.token })
    expect(answer.text).toContain('"header_times":[1767323044000000000,1767323045123456789]')
  })

  it('refuses without read_build_logs, hides the jobs of others, and 404s another build', async () => {
    const { short, long, org, admin, pipeline, run } = await aRunningJob(app)
    const weak = await aToken(app, admin, { scopes: ['read_builds', 'write_build_logs'] })
    expect((await app.request('GET', `${short}/log`, { token: weak })).status).toBe(403)
    const other = await aRunningJob(app)
    expect(
      (await app.request('GET', `${org.path}/jobs/${other.run.id}/log`, { token: admin.token })).status,
    ).toBe(404)
    const wrongBuild = `${pipeline.path}/builds/99/jobs/${run.id}/log`
    expect((await app.request('GET', wrongBuild, { token: admin.token })).status).toBe(404)
    expect((await app.request('GET', `${long}/log`, {})).status).toBe(401)
    expect((await app.request('GET', `${org.path}/jobs/${newId()}/log`, { token: admin.token })).status).toBe(
      404,
    )
  })
})

describe('DELETE …/jobs/{job.id}/log', () => {
  it.each(lives)('of $life answers 204 and deletes everything', async ({ prepare }) => {
    const scene = await aRunningJob(app)
    await sendLog(app, scene.run, 'secret')
    await prepare(scene)
    const before = await blobOf(scene.run.id)
    expect((await app.request('DELETE', `${scene.short}/log`, { token: scene.admin.token })).status).toBe(204)
    expect(await auditTrail(app, scene.org, 'JOB_LOG_DELETED')).toMatchObject([
      { actor: { uuid: scene.admin.id }, subject: { type: 'Job', uuid: scene.run.id } },
    ])
    for (const [method, path] of [
      ['GET', '/log'],
      ['GET', '/log.txt'],
      ['HEAD', '/log'],
      ['GET', '/log/rows'],
      ['GET', '/log/stream'],
      ['DELETE', '/log'],
    ] as const) {
      const answer = await app.request(method, `${scene.long}${path}`, { token: scene.admin.token })
      expect([method, path, answer.status]).toEqual([method, path, 404])
    }
    expect(await chunksOf(scene.run.id)).toBe(0)
    const object = before?.blob_key ? await app.ctx.blobs.head(before.blob_key) : null
    expect(object).toBeNull()
    expect((await sendChunk(app, scene.run, { sequence: 2, offset: 6, text: 'more' })).status).toBe(200)
    expect(await chunksOf(scene.run.id)).toBe(0)
  })

  it('needs write_build_logs', async () => {
    const { long, admin } = await aJob()
    const weak = await aToken(app, admin, { scopes: ['read_build_logs', 'write_builds'] })
    expect((await app.request('DELETE', `${long}/log`, { token: weak })).status).toBe(403)
  })
})

describe('POST /v3/jobs/:id/chunks', () => {
  it('ends what is shown at the first gap while the job runs, and shows all when it is filled', async () => {
    const scene = await aJob()
    await sendChunk(app, scene.run, { sequence: 1, offset: 0, text: 'one ' })
    await sendChunk(app, scene.run, { sequence: 3, offset: 8, text: 'three' })
    expect(await textOf(scene)).toBe('one ')
    await sendChunk(app, scene.run, { sequence: 2, offset: 4, text: 'two ' })
    expect(await textOf(scene)).toBe('one two three')
  })

  it('notes the lost bytes when the job has ended with a gap', async () => {
    const scene = await aJob()
    await sendChunk(app, scene.run, { sequence: 1, offset: 0, text: 'one ' })
    await sendChunk(app, scene.run, { sequence: 3, offset: 8, text: 'three' })
    await endLongAgo(app, scene.run)
    const text = 'one \r\n[4 bytes of this log were lost on their way here]\r\nthree'
    expect(await textOf(scene)).toBe(text)
    await compactLogs(app.ctx)
    expect(await textOf(scene)).toBe(text)
  })

  it('stores a chunk once, also when it is sent several times at once', async () => {
    const scene = await aJob()
    const chunk = { sequence: 1, offset: 0, text: 'once' }
    const answers = await Promise.all(Array.from({ length: 8 }, () => sendChunk(app, scene.run, chunk)))
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200))
    expect(await textOf(scene)).toBe('once')
  })

  it('accepts chunks without compression, and the sequence 0', async () => {
    const scene = await aJob()
    const answer = await fetch(`${app.address}/v3/jobs/${scene.run.id}/chunks?sequence=0&offset=0&size=5`, {
      method: 'POST',
      headers: { Authorization: `Token ${scene.run.token}`, 'Content-Type': 'text/plain' },
      body: 'plain',
    })
    expect([answer.status, await textOf(scene)]).toEqual([200, 'plain'])
  })

  it('stores bytes within the limit, adds a last line that says so, and answers 200', async () => {
    const scene = await aJob()
    const half = 'x'.repeat(60_000)
    const lastLine = '\r\n[This log is longer than 100000 bytes: the rest was not kept]\r\n'
    const sent = [1, 2, 3, 4].map((sequence) => ({ sequence, offset: (sequence - 1) * 60_000, text: half }))
    for (const chunk of sent) expect((await sendChunk(app, scene.run, chunk)).status).toBe(200)
    expect(await textOf(scene)).toBe('x'.repeat(100_000) + lastLine)
    await endLongAgo(app, scene.run)
    await compactLogs(app.ctx)
    expect(await textOf(scene)).toBe('x'.repeat(100_000) + lastLine)
  })

  it('stops storing chunks that overlap endlessly', async () => {
    const scene = await aJob()
    const rows = Array.from({ length: 5 }, (_, sequence) => ({
      job_id: scene.run.id,
      sequence: sequence + 100,
      byte_offset: 0,
      size: 50_000,
      data: Buffer.alloc(0),
    }))
    await app.db.insertInto('job_log_chunks').values(rows).execute()
    const send = (sequence: number) => sendChunk(app, scene.run, { sequence, offset: 0, text: 'x' })
    // The check is random: force it.
    const chance = vi.spyOn(Math, 'random').mockReturnValue(0)
    expect((await send(1000)).status).toBe(200)
    chance.mockRestore()
    const kept = await chunksOf(scene.run.id)
    for (let sequence = 1001; sequence < 1010; sequence++) expect((await send(sequence)).status).toBe(200)
    expect(await chunksOf(scene.run.id)).toBe(kept)
  })

  it.each([
    ['sequence=x&offset=0&size=1', 400],
    ['offset=0&size=1', 400],
    ['sequence=1&size=1', 400],
    ['sequence=-1&offset=0', 400],
    ['sequence=1&offset=99999999999999999999', 400],
  ])('refuses ?%s', async (query, status) => {
    const { run } = await aJob()
    expect((await run.call('POST', `jobs/${run.id}/chunks?${query}`, { body: 'x' })).status).toBe(status)
  })

  it('refuses a body that is not gzip, and one that inflates endlessly', async () => {
    const { run } = await aJob()
    const post = (body: Buffer) =>
      fetch(`${app.address}/v3/jobs/${run.id}/chunks?sequence=1&offset=0&size=1`, {
        method: 'POST',
        headers: { Authorization: `Token ${run.token}`, 'Content-Encoding': 'gzip' },
        body,
      })
    expect((await post(Buffer.from('not gzip'))).status).toBe(400)
    expect((await post(gzipSync(Buffer.alloc(9 * 1024 * 1024)))).status).toBe(413)
  })

  it('is accepted for a while after the end of the job, and then refused, since a 200 says that it is kept', async () => {
    const scene = await aJob()
    await sendChunk(app, scene.run, { sequence: 1, offset: 0, text: 'in time, ' })
    await scene.run.finish()
    expect((await sendChunk(app, scene.run, { sequence: 2, offset: 9, text: 'late' })).status).toBe(200)
    expect(await textOf(scene)).toBe('in time, late')
    await endLongAgo(app, scene.run)
    const tooLate = { sequence: 3, offset: 13, text: 'too late' }
    const refused = await sendChunk(app, scene.run, tooLate)
    expect(refused.status).toBe(422)
    expect(JSON.parse(refused.text)).toEqual({
      message: 'The job has ended too long ago: its log is closed.',
    })
    expect(await textOf(scene)).toBe('in time, late')
    await compactLogs(app.ctx)
    expect((await sendChunk(app, scene.run, tooLate)).status).toBe(422)
    expect(await textOf(scene)).toBe('in time, late')
  })

  it('refuses chunks for the job of another agent', async () => {
    const [ours, theirs] = [await aRunningJob(app), await aRunningJob(app)]
    const answer = await sendChunk(
      app,
      { id: theirs.run.id, token: ours.run.token },
      { sequence: 1, offset: 0, text: 'x' },
    )
    expect(answer.status).toBe(403)
    expect(
      (await sendChunk(app, { id: ours.run.id, token: 'mrjt_x' }, { sequence: 1, offset: 0, text: 'x' }))
        .status,
    ).toBe(401)
  })
})

describe('log compaction', () => {
  it('ignores jobs that run or have just ended', async () => {
    const [running, ended] = [await aJob(), await aJob()]
    await sendLog(app, running.run, 'a')
    await sendLog(app, ended.run, 'b')
    await ended.run.finish()
    await compactLogs(app.ctx)
    expect([await chunksOf(running.run.id), await chunksOf(ended.run.id)]).toEqual([1, 1])
  })

  it('runs once for concurrent workers, and again when one died', async () => {
    const scene = await aJob()
    await sendLog(app, scene.run, 'whole')
    await endLongAgo(app, scene.run)
    await sql`insert into job_logs (job_id, organization_id, compacting_until)
      values (${scene.run.id}, ${scene.org.id}, now() + interval '1 minute')`.execute(app.db)
    await compactLogs(app.ctx)
    expect(await chunksOf(scene.run.id)).toBe(1)
    await sql`update job_logs set compacting_until = now() - interval '1 second' where job_id = ${scene.run.id}`.execute(
      app.db,
    )
    await Promise.all([compactLogs(app.ctx), compactLogs(app.ctx), compactLogs(app.ctx)])
    expect([await chunksOf(scene.run.id), await textOf(scene)]).toEqual([0, 'whole'])
    const { rows } = await sql`select from unclaimed_blobs where key like ${`%${scene.run.id}%`}`.execute(
      app.db,
    )
    expect(rows).toHaveLength(0)
  })

  it('loses nothing when the store fails', async () => {
    const scene = await aJob()
    await sendLog(app, scene.run, 'kept')
    await endLongAgo(app, scene.run)
    const failing = { ...app.ctx.blobs, put: async () => Promise.reject(new Error('The disk is full.')) }
    await compactLogs({ ...app.ctx, blobs: failing })
    expect(await textOf(scene)).toBe('kept')
    await sql`update job_logs set compacting_until = now() - interval '1 second' where job_id = ${scene.run.id}`.execute(
      app.db,
    )
    await compactLogs(app.ctx)
    expect([await chunksOf(scene.run.id), await textOf(scene)]).toEqual([0, 'kept'])
  })

  it('loses no chunks that arrive while the object is written, also when the transaction fails', async () => {
    const scene = await aJob()
    await sendLog(app, scene.run, 'one ')
    await endLongAgo(app, scene.run)
    const { put } = app.ctx.blobs
    const meanwhile: typeof put = async (...args) => {
      await put(...args)
      await app.db
        .insertInto('job_log_chunks')
        .values({ job_id: scene.run.id, sequence: 2, byte_offset: 4, size: 3, data: gzipSync('two') })
        .execute()
    }
    await compactLogs({ ...app.ctx, blobs: { ...app.ctx.blobs, put: meanwhile } })
    expect([await chunksOf(scene.run.id), await textOf(scene)]).toEqual([2, 'one two'])
    await sql`update job_logs set compacting_until = now() - interval '1 second' where job_id = ${scene.run.id}`.execute(
      app.db,
    )
    await compactLogs(app.ctx)
    expect([await chunksOf(scene.run.id), await textOf(scene)]).toEqual([0, 'one two'])
  })

  it('deletes the chunks of deleted jobs, and the object of a deleted compacted log', async () => {
    const [early, late] = [await aJob(), await aJob()]
    await sendLog(app, early.run, 'x')
    await sendLog(app, late.run, 'y')
    await endLongAgo(app, late.run)
    await compactLogs(app.ctx)
    const key = (await blobOf(late.run.id))?.blob_key ?? ''
    await app.db.deleteFrom('builds').where('id', 'in', [early.build.id, late.build.id]).execute()
    await compactLogs(app.ctx)
    expect(await chunksOf(early.run.id)).toBe(0)
    expect(await app.ctx.blobs.head(key)).toEqual({ size: 1 })
    await deleteUnclaimed(app.db, app.ctx.blobs)
    expect(await app.ctx.blobs.head(key)).toBeNull()
  })
})

describe('GET …/jobs/{job.id}/log/stream', () => {
  /** Collects the events; `more` waits until there are that many. */
  async function follow(scene: RunningScene, headers: Record<string, string> = {}) {
    const leaving = new AbortController()
    const response = await fetch(`${app.address}${scene.long}/log/stream`, {
      headers: { Authorization: `Bearer ${scene.admin.token}`, ...headers },
      signal: leaving.signal,
    })
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    let read = ''
    const events = () =>
      read
        .split('\n\n')
        .slice(0, -1)
        .filter((event) => event.includes('data:'))
    return {
      response,
      async until(count: number): Promise<string[]> {
        while (events().length < count) {
          const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
          if (done) break
          read += value
        }
        return events()
      },
      leave: () => leaving.abort(),
    }
  }

  it('ends at once for HEAD, although the job runs', async () => {
    const scene = await aJob()
    await sendLog(app, scene.run, 'one\n')
    const head = await app.request('HEAD', `${scene.long}/log/stream`, { token: scene.admin.token })
    expect([head.status, head.text]).toEqual([200, ''])
    expect(head.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  })

  it('sends existing output, then new output, and ends with the job', async () => {
    const scene = await aJob()
    await sendLog(app, scene.run, 'one\n')
    const stream = await follow(scene)
    expect(stream.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(await stream.until(1)).toEqual(['id: 4\ndata: {"text":"one\\n"}'])
    const euro = Buffer.from('€')
    await sendChunk(app, scene.run, {
      sequence: 2,
      offset: 4,
      text: Buffer.concat([Buffer.from('two'), euro.subarray(0, 2)]),
    })
    expect((await stream.until(2))[1]).toBe('id: 7\ndata: {"text":"two"}')
    await sendChunk(app, scene.run, { sequence: 3, offset: 9, text: euro.subarray(2) })
    expect((await stream.until(3))[2]).toBe('id: 10\ndata: {"text":"€"}')
    await scene.run.finish()
    expect((await stream.until(5)).slice(3)).toEqual(['id: 10\nevent: end\ndata: {"size":10}'])
  })

  it.each(lives)('continues a reader of $life at Last-Event-ID', async ({ prepare }) => {
    const scene = await aJob()
    await sendLog(app, scene.run, 'one two')
    await prepare(scene)
    const stream = await follow(scene, { 'Last-Event-ID': '4' })
    expect((await stream.until(1))[0]).toBe('id: 7\ndata: {"text":"two"}')
    stream.leave()
  })

  it('sends an event when the log is deleted', async () => {
    const scene = await aJob()
    await sendLog(app, scene.run, 'x')
    const stream = await follow(scene)
    await stream.until(1)
    await app.request('DELETE', `${scene.long}/log`, { token: scene.admin.token })
    expect((await stream.until(3)).at(-1)).toBe('event: deleted\ndata: {}')
  })

  it('refuses an invalid Last-Event-ID, and needs read_build_logs', async () => {
    const scene = await aJob()
    const bad = await follow(scene, { 'Last-Event-ID': 'x' })
    expect(bad.response.status).toBe(400)
    const member = await aMember(app, scene.org)
    const token = await aToken(app, member, { scopes: ['read_builds'] })
    expect((await app.request('GET', `${scene.long}/log/stream`, { token })).status).toBe(403)
  })
})

describe('PUT /v3/jobs/:job/finish', () => {
  it('stores the last chunk of the log that comes with it, once', async () => {
    const scene = await aJob()
    await sendChunk(app, scene.run, { sequence: 1, offset: 0, text: 'first ' })
    const last = { sequence: 2, offset: 6, gzip: gzipSync('last').toString('base64') }
    const report = async () => (await scene.run.finish(0, { last_chunk: last })).status
    expect(await report()).toBe(200)
    // The answer was lost.
    expect(await report()).toBe(200)
    expect(await textOf(scene)).toBe('first last')
  })
})
