import { randomBytes, randomUUID } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { request } from 'node:http'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { anAgent } from '../../../test/agent-client.ts'
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
  type TestFile,
} from '../../../test/artifact-files.ts'
import { baseUrl, eventually, useOwnApp } from '../../../test/app.ts'
import { aBuild } from '../../../test/runs.ts'
import { aRunningJob, jobsOfOneWorld, type RunningScene } from '../../../test/job-runs.ts'
import { deleteUnclaimed } from '../../blobs/unclaimed.ts'
import { newId } from '../../lib/ids.ts'

const app = useOwnApp({ env: { MILLRACE_ARTIFACT_PART_MIB: '10' } })
const aJob = jobsOfOneWorld(app)

const objects = async () => {
  const entries = await readdir(app.ctx.config.dataDir, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).length
}

describe('POST /v3/jobs/:id/artifacts', () => {
  it('gives ids in the order of the files, and says for each how it is to be sent', async () => {
    const { run } = await aJob()
    const batchId = randomUUID()
    const answer = batchOf(await announce(run, [aFile('b'), aFile('a')], { id: batchId }))
    expect(answer.id).toBe(batchId)
    expect(answer.artifact_ids).toHaveLength(2)
    expect(Object.keys(answer.per_artifact_instructions ?? {}).sort()).toEqual(
      [...answer.artifact_ids].sort(),
    )
    const [id = ''] = answer.artifact_ids
    expect(answer.per_artifact_instructions?.[id]).toEqual({
      data: { artifact_id: id, ticket: expect.stringMatching(/^\d+\.[\w-]+$/) },
      action: { url: baseUrl, method: 'POST', path: '/v3/uploads', file_input: 'file' },
    })
    const { rows } = await sql<{ path: string }>`select path from artifacts where id = ${id}`.execute(app.db)
    expect(rows).toEqual([{ path: 'b' }])
  })

  it('gives the same ids to the same batch, also at the same time, and the same id to another job means another batch', async () => {
    const scene = await aRunningJob(app)
    const id = randomUUID()
    const files = [aFile('a'), aFile('b')]
    const answers = await Promise.all(Array.from({ length: 6 }, () => announce(scene.run, files, { id })))
    const ids = answers.map((answer) => batchOf(answer).artifact_ids.join())
    expect(new Set(ids).size).toBe(1)
    const other = await aRunningJob(app)
    expect(batchOf(await announce(other.run, files, { id })).artifact_ids.join()).not.toBe(ids[0])
    expect((await announce(scene.run, [aFile('a')], { id })).status).toBe(422)
  })

  it('takes 31 files, and an empty batch', async () => {
    const { run } = await aJob()
    const files = Array.from({ length: 31 }, (_, index) => aFile(`f${index}`))
    expect(batchOf(await announce(run, files)).artifact_ids).toHaveLength(31)
    expect(batchOf(await announce(run, [])).artifact_ids).toEqual([])
  })

  it.each([
    ['/etc/passwd', 'must be relative'],
    ['C:\\Windows\\x', 'must be relative'],
    ['\\\\host\\share', 'must be relative'],
    ['../x', 'must not lead upwards'],
    ['a/../../x', 'must not lead upwards'],
    ['a\\..\\x', 'must not lead upwards'],
    ['', 'must have 1 to 4096 characters'],
  ])('refuses the path %j with 422', async (path, why) => {
    const { run } = await aJob()
    const answer = await announce(run, [aFile('ok'), aFile(path)])
    expect([answer.status, String(answer.body.message)]).toEqual([422, expect.stringContaining(why)])
  })

  it('refuses NUL in a path with 400, and takes encoded traversal for the odd name it is', async () => {
    const scene = await aJob()
    expect((await announce(scene.run, [aFile('a\0b')])).status).toBe(400)
    const names = ['%2e%2e/%2e%2e/etc/passwd', '..%2fx', 'a/.../b', '\u2025/x', 'new\nline']
    const ids = await upload(
      app,
      scene.run,
      names.map((name) => aFile(name, name)),
    )
    for (const [index, id] of ids.entries()) expect(String(await read(app, scene, id))).toBe(names[index])
  })

  it.each([
    ['a wrong hash', { sha1sum: 'x' }],
    ['a size that is none', { file_size: -1 }],
    ['no size', { file_size: null }],
  ])('refuses %s with 422', async (_, other) => {
    const { run } = await aJob()
    expect((await announce(run, [aFile('a', 'x', { announced: other })])).status).toBe(422)
  })

  it('refuses with 403 what is beyond the quotas', async () => {
    const { run, org } = await aJob()
    expect(
      (await announce(run, [aFile('a', 'x', { announced: { file_size: 11 * 1024 ** 3 } })])).status,
    ).toBe(403)
    const large = Array.from({ length: 6 }, (_, at) =>
      aFile(`f${at}`, 'x', { announced: { file_size: 9 * 1024 ** 3 } }),
    )
    expect((await announce(run, large)).status).toBe(403)
    await sql`
      insert into artifacts (id, organization_id, build_id, job_id, batch_id, batch_index, path, file_size, sha1sum, mime_type)
      select gen_random_uuid(), ${org.id}, build_id, id, gen_random_uuid(), 0, 'x', 0, '', '' from jobs, generate_series(1, 5000)
      where id = ${run.id}`.execute(app.db)
    const answer = await announce(run, [aFile('a')])
    expect([answer.status, answer.body.message]).toEqual([403, 'A job may have at most 5000 artifacts.'])
  })

  it('is for the jobs of the same build only', async () => {
    const scene = await aRunningJob(app, '{steps: [{command: one}, {command: two}]}')
    const second = await (await anAgent(app, scene.token)).begin()
    const body = { id: randomUUID(), upload_destination: '', artifacts: [] }
    expect((await second.call('POST', `jobs/${scene.run.id}/artifacts`, { body })).status).toBe(200)
    const other = await aRunningJob(app, undefined, scene)
    expect((await other.run.call('POST', `jobs/${scene.run.id}/artifacts`, { body })).status).toBe(403)
    expect((await scene.run.call('POST', `jobs/${newId()}/artifacts`, { body })).status).toBe(403)
  })

  it('keeps no address that a browser must not be sent to', async () => {
    const scene = await aJob()
    const file = aFile('a', 'x', { announced: { url: 'javascript:alert(1)' } })
    const { artifact_ids: ids } = batchOf(await announce(scene.run, [file], { upload_destination: 's3://b' }))
    await report(scene.run, [{ id: ids[0] ?? '', state: 'finished' }])
    const answer = await app.request('GET', `${scene.short}/artifacts/${ids[0]}/download`, {
      token: scene.admin.token,
    })
    expect(answer.status).toBe(404)
  })
})

describe('POST /v3/uploads', () => {
  const begin = async (file: TestFile, multipart = false) => {
    const scene = await aJob()
    const answer = batchOf(await announce(scene.run, [file], { multipart_supported: multipart }))
    const [id = ''] = answer.artifact_ids
    return { scene, id, instructions: answer.per_artifact_instructions?.[id] ?? {} }
  }

  it.each([
    ['of 0 bytes', aFile('empty', '')],
    ['of 1 byte', aFile('one', 'x')],
    ['with a space and a slash in its path', aFile('some dir/a file.txt')],
    [
      'that looks like a form',
      aFile('form', '\r\n--\r\n------x\r\nContent-Disposition: form-data; name="ticket"\r\n\r\nx'),
    ],
    ['of 3 MB of anything', aFile('large', randomBytes(3_000_000))],
  ])('takes a file %s', async (_, file) => {
    const { scene, id, instructions } = await begin(file)
    expect((await show(app, scene, id)).state).toBe('new')
    expect((await send(app, instructions, file)).status).toBe(200)
    await report(scene.run, [{ id, state: 'finished' }])
    expect((await show(app, scene, id)).state).toBe('finished')
    expect((await read(app, scene, id)).equals(file.content)).toBe(true)
  })

  it('takes a file once, however often it comes, and keeps one object of it', async () => {
    const file = aFile('a', 'twice')
    const { scene, id, instructions } = await begin(file)
    const before = await objects()
    const answers = await Promise.all(Array.from({ length: 5 }, () => send(app, instructions, file)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    expect((await send(app, instructions, file)).status).toBe(200)
    await report(scene.run, [{ id, state: 'finished' }])
    await deleteUnclaimed(app.db, app.ctx.blobs)
    expect((await objects()) - before).toBe(1)
    expect(String(await read(app, scene, id))).toBe('twice')
  })

  it.each([
    ['other bytes', 'announceX'],
    ['fewer bytes', 'announce'],
    ['more bytes', 'announced and more'],
  ])(
    'refuses %s than announced: the artifact is in error, and stays so, until the right ones come',
    async (_, sent) => {
      const file = aFile('a', 'announced')
      const { scene, id, instructions } = await begin(file)
      const before = await objects()
      const answer = await send(app, instructions, aFile('a', sent))
      expect([answer.status, answer.text]).toEqual([422, expect.stringContaining('announced with')])
      expect((await show(app, scene, id)).state).toBe('error')
      await report(scene.run, [{ id, state: 'finished' }])
      expect((await show(app, scene, id)).state).toBe('error')
      expect(await objects()).toBe(before)
      expect((await send(app, instructions, file)).status).toBe(200)
      await report(scene.run, [{ id, state: 'finished' }])
      expect((await show(app, scene, id)).state).toBe('finished')
    },
  )

  it('checks the SHA-256 too', async () => {
    const file = aFile('a', 'x', { announced: { sha256sum: 'a'.repeat(64) } })
    const { instructions } = await begin(file)
    expect((await send(app, instructions, file)).text).toContain('SHA-256')
  })

  it('refuses a ticket that is forged, for another file, or too old', async () => {
    const file = aFile('a')
    const [one, other] = [await begin(file), await begin(file)]
    const sendWith = (data: Record<string, string>) => send(app, { ...one.instructions, data }, file)
    const { data = {} } = one.instructions
    expect((await sendWith({ ...data, artifact_id: other.id })).status).toBe(403)
    expect((await sendWith({ ...data, ticket: '9999999999.AAAAAAAAAAAAAAAAAAAAAA' })).status).toBe(403)
    expect((await sendWith({ artifact_id: one.id })).status).toBe(403)
    const { now } = app.ctx
    try {
      app.ctx.now = () => new Date(Date.now() + 25 * 60 * 60 * 1000)
      expect((await sendWith(data)).status).toBe(403)
    } finally {
      app.ctx.now = now
    }
  })

  it('never makes a path of the name that comes with the file', async () => {
    const file = aFile('ok.txt', 'content')
    const { scene, id, instructions } = await begin(file)
    const hostile = { ...file, path: '../../../../tmp/millrace-was-here' }
    expect((await send(app, instructions, hostile)).status).toBe(200)
    await report(scene.run, [{ id, state: 'finished' }])
    expect(await show(app, scene, id)).toMatchObject({ path: 'ok.txt', state: 'finished' })
    expect(await readdir('/tmp')).not.toContain('millrace-was-here')
  })

  it.each([
    ['no form', 'text/plain', 'x'],
    ['no boundary', 'multipart/form-data', 'x'],
    ['another boundary', 'multipart/form-data; boundary=a', '--b\r\n'],
    [
      'no file',
      'multipart/form-data; boundary=a',
      '--a\r\nContent-Disposition: form-data; name="x"\r\n\r\n1\r\n--a--\r\n',
    ],
    ['a cut', 'multipart/form-data; boundary=a', '--a\r\nContent-Disposition: form-data; name="x"\r\n\r\n1'],
    ['a nameless part', 'multipart/form-data; boundary=a', '--a\r\nX: y\r\n\r\n1\r\n--a--\r\n'],
    [
      'a field without end',
      'multipart/form-data; boundary=a',
      `--a\r\nContent-Disposition: form-data; name="x"\r\n\r\n${'x'.repeat(100_000)}\r\n--a--\r\n`,
    ],
  ])('refuses %s with 400', async (_, type, body) => {
    const headers = { 'Content-Type': type }
    const response = await fetch(`${app.address}/v3/uploads`, { method: 'POST', headers, body })
    expect(response.status).toBe(400)
    expect(Object.keys((await response.json()) as object)).toEqual(['message'])
  })

  it('leaves nothing of a file whose sender goes away', async () => {
    const file = aFile('a', randomBytes(1_000_000))
    const { scene, id, instructions } = await begin(file)
    const before = await objects()
    const sent = request(`${app.address}/v3/uploads`, {
      method: 'POST',
      headers: { 'Content-Type': 'multipart/form-data; boundary=b', 'Content-Length': 2_000_000 },
    })
    const field = (name: string, value = '') =>
      `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
    const { artifact_id = '', ticket = '' } = instructions.data ?? {}
    sent.write(field('artifact_id', artifact_id) + field('ticket', ticket))
    sent.write('--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n')
    const gone = new Promise((resolve) => sent.once('close', resolve))
    sent.once('error', () => {})
    sent.write(file.content.subarray(0, 500_000), () => sent.destroy())
    await gone
    await eventually('nothing is left', async () => (await objects()) === before)
    expect((await show(app, scene, id)).state).toBe('new')
    expect((await send(app, instructions, file)).status).toBe(200)
  })
})

describe('PUT /v3/jobs/:id/artifacts', () => {
  it('may be said twice, passes over what was deleted, and over artifacts of other jobs', async () => {
    const [scene, other] = [await aRunningJob(app), await aRunningJob(app)]
    const [id = '', deleted = ''] = await upload(app, scene.run, [aFile('a'), aFile('b')])
    await app.request('DELETE', `${scene.short}/artifacts/${deleted}`, { token: scene.admin.token })
    const foreign = batchOf(await announce(other.run, [aFile('c')])).artifact_ids[0] ?? ''
    const entries = [id, deleted, foreign, newId()].map((each) => ({ id: each, state: 'error' }))
    expect((await report(scene.run, entries)).status).toBe(200)
    expect((await report(scene.run, [{ id, state: 'finished' }])).status).toBe(200)
    expect((await show(app, scene, id)).state).toBe('finished')
    expect((await show(app, other, foreign)).state).toBe('new')
  })

  it('makes an error of what was not sent', async () => {
    const scene = await aJob()
    const [one = '', two = ''] = batchOf(await announce(scene.run, [aFile('a'), aFile('b')])).artifact_ids
    await report(scene.run, [
      { id: one, state: 'finished' },
      { id: two, state: 'error' },
    ])
    expect([(await show(app, scene, one)).state, (await show(app, scene, two)).state]).toEqual([
      'error',
      'error',
    ])
  })

  it('is refused when the job has ended', async () => {
    const { run } = await aJob()
    await run.finish()
    expect((await report(run, [])).status).toBe(401)
  })
})

describe('GET /v3/builds/:id/artifacts/search', () => {
  const search = async ({ run, build }: Pick<RunningScene, 'run' | 'build'>, query: string, more = '') => {
    const answer = await run.call(
      'GET',
      `builds/${build.id}/artifacts/search?query=${encodeURIComponent(query)}&state=finished${more}`,
    )
    expect(answer.status).toBe(200)
    return answer.body as unknown as Array<Record<string, unknown>>
  }
  const paths = (list: ReadonlyArray<Record<string, unknown>>) => list.map(({ path }) => path)

  it('gives all that agents read, with an address that needs no token', async () => {
    const scene = await aJob()
    const [id] = await upload(app, scene.run, [aFile('dir/a.txt', 'hello')])
    const [found] = await search(scene, 'dir/a.txt')
    expect(found).toEqual({
      id,
      path: 'dir/a.txt',
      absolute_path: '/builds/dir/a.txt',
      file_size: 5,
      sha1sum: 'aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d',
      sha256sum: '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
      job_id: scene.run.id,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      url: expect.stringMatching(/^http:\/\/millrace\.test\/v2\/artifacts\/.+ticket=/),
      content_type: 'text/plain',
    })
    expect(await (await fetch(here(app, String(found?.['url'])))).text()).toBe('hello')
  })

  it('answers 200 with an empty list when there is nothing', async () => {
    const scene = await aJob()
    const answer = await scene.run.call(
      'GET',
      `builds/${scene.build.id}/artifacts/search?query=none&state=finished`,
    )
    expect([answer.status, answer.text]).toEqual([200, '[]'])
  })

  it('finds by patterns', async () => {
    const scene = await aJob()
    const all = ['a.txt', 'b.log', 'dir/a.txt', 'dir/sub/c.txt', 'x(1)+[2].txt', 'back\\slash']
    await upload(
      app,
      scene.run,
      all.map((path) => aFile(path)),
    )
    const cases: Array<[string, string[]]> = [
      ['a.txt', ['a.txt']],
      ['./a.txt', ['a.txt']],
      ['*', all],
      ['**/*', all],
      ['**/*.txt', ['a.txt', 'dir/a.txt', 'dir/sub/c.txt', 'x(1)+[2].txt']],
      ['dir/**/*.txt', ['dir/a.txt', 'dir/sub/c.txt']],
      ['dir/*', ['dir/a.txt', 'dir/sub/c.txt']],
      ['?.txt', ['a.txt']],
      ['[ab].*', ['a.txt', 'b.log']],
      ['[!a].log', ['b.log']],
      ['{a.txt,b.log}', ['a.txt', 'b.log']],
      ['x(1)+*', ['x(1)+[2].txt']],
      ['back\\slash', ['back\\slash']],
      ['a\\.txt', []],
      ['.*', []],
      ['(', []],
      ['[', []],
      ['{', []],
      ['[z-a]', []],
      ['[\u{1f600}-\u{1f64f}a]\u{1f600}', []],
      ['a{', []],
      ['{a,b}{.txt,.log}', ['a.txt', 'b.log']],
      ['[a-b].*', ['a.txt', 'b.log']],
      ['*'.repeat(500), all],
      ['', []],
    ]
    for (const [query, found] of cases)
      expect([query, paths(await search(scene, query))]).toEqual([query, found])
  })

  it('narrows to a step by key or label, or to a job', async () => {
    const scene = await aRunningJob(
      app,
      '{steps: [{command: one, key: first, label: ":one: First"}, {command: two}]}',
    )
    const second = await (await anAgent(app, scene.token)).begin()
    await upload(app, scene.run, [aFile('one')])
    await upload(app, second, [aFile('two')])
    const scoped = async (scope: string) =>
      paths(await search(scene, '*', `&scope=${encodeURIComponent(scope)}`))
    expect(await scoped('first')).toEqual(['one'])
    expect(await scoped(':one: First')).toEqual(['one'])
    expect(await scoped(second.id)).toEqual(['two'])
    expect(await scoped('nothing')).toEqual([])
  })

  it('gives the newest of each path, and all with include_duplicates', async () => {
    const scene = await aJob()
    const [first] = await upload(app, scene.run, [aFile('a', 'old')])
    const [second] = await upload(app, scene.run, [aFile('a', 'new')])
    expect((await search(scene, 'a')).map(({ id }) => id)).toEqual([second])
    expect((await search(scene, 'a', '&include_duplicates=true')).map(({ id }) => id)).toEqual([
      first,
      second,
    ])
  })

  it('leaves out jobs that were retried, unless they are asked for', async () => {
    const scene = await aRunningJob(app, '{steps: [{command: one}, {command: two}]}')
    await upload(app, scene.run, [aFile('a')])
    await scene.run.finish(1)
    await app.request('PUT', `${scene.short}/retry`, { token: scene.admin.token })
    const run = await (await anAgent(app, scene.token)).begin()
    const reader = { run, build: scene.build }
    expect(await search(reader, 'a')).toEqual([])
    expect(paths(await search(reader, 'a', '&include_retried_jobs=true'))).toEqual(['a'])
  })

  it('has the addresses of files in a store of the customer’s own', async () => {
    const scene = await aJob()
    const file = aFile('a', 'x', { announced: { url: 'https://acme.example/a' } })
    const { artifact_ids: ids } = batchOf(
      await announce(scene.run, [file], { upload_destination: 's3://acme/b' }),
    )
    await report(scene.run, [{ id: ids[0] ?? '', state: 'finished' }])
    expect(await search(scene, 'a')).toEqual([
      expect.objectContaining({ url: 'https://acme.example/a', upload_destination: 's3://acme/b' }),
    ])
  })

  it('reaches the builds of its own cluster, and no other', async () => {
    const scene = await aRunningJob(app)
    await upload(app, scene.run, [aFile('a')])
    const inCluster = await aRunningJob(app, undefined, scene)
    expect(paths(await search({ run: inCluster.run, build: scene.build }, 'a'))).toEqual(['a'])
    const elsewhere = await aRunningJob(app)
    const answer = await elsewhere.run.call('GET', `builds/${scene.build.id}/artifacts/search?query=a`)
    expect([answer.status, answer.body]).toEqual([404, { message: 'No build found' }])
    const unknown = await aBuild(app, elsewhere.org, elsewhere.pipeline)
    expect(await search({ run: elsewhere.run, build: unknown }, 'a')).toEqual([])
  })
})

const mebibyte = 1024 * 1024

describe('files in parts', () => {
  const large = aFile('large.bin', Buffer.concat([randomBytes(mebibyte), Buffer.alloc(10 * mebibyte, 'x')]))

  it('come at addresses of their own, are put together and checked', async () => {
    const scene = await aJob()
    const batchId = randomUUID()
    const answer = batchOf(await announce(scene.run, [large], { id: batchId }))
    const [id = ''] = answer.artifact_ids
    const { actions = [] } = answer.per_artifact_instructions?.[id] ?? {}
    expect(actions.map(({ method, part_number }) => [method, part_number])).toEqual([
      ['PUT', 1],
      ['PUT', 2],
    ])
    const sent = await send(app, { actions }, large)
    expect([sent.status, sent.etags.every((etag) => etag !== '')]).toEqual([200, true])
    expect(batchOf(await announce(scene.run, [large], { id: batchId })).artifact_ids).toEqual([id])
    const answers = await Promise.all(
      [1, 2].map(() => report(scene.run, [{ id, state: 'finished', etags: sent.etags }])),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect((await show(app, scene, id)).state).toBe('finished')
    expect((await read(app, scene, id)).equals(large.content)).toBe(true)
  })

  it('make an error when one is missing or wrong, and leave nothing behind', async () => {
    const scene = await aJob()
    const before = await objects()
    for (const spoil of ['missing', 'wrong']) {
      const answer = batchOf(await announce(scene.run, [large]))
      const [id = ''] = answer.artifact_ids
      const { actions = [] } = answer.per_artifact_instructions?.[id] ?? {}
      const content = Buffer.from(large.content)
      if (spoil === 'wrong') content[content.length - 1] = 0
      const { etags } = await send(app, { actions }, { ...large, content })
      const reported = spoil === 'wrong' ? etags : etags.slice(1)
      await report(scene.run, [{ id, state: 'finished', etags: reported }])
      expect((await show(app, scene, id)).state).toBe('error')
      expect((await report(scene.run, [{ id, state: 'finished', etags: reported }])).status).toBe(200)
    }
    expect(await objects()).toBe(before)
  })

  it('are refused with a ticket for another part, and with a number that is not awaited', async () => {
    const scene = await aJob()
    const answer = batchOf(await announce(scene.run, [large]))
    const [id = ''] = answer.artifact_ids
    const [first = { url: '' }] = answer.per_artifact_instructions?.[id]?.actions ?? []
    const put = async (url: string) => {
      const response = await fetch(here(app, url), { method: 'PUT', body: 'x' })
      return [response.status, await response.text()][0]
    }
    expect(await put(first.url.replace('parts/1', 'parts/2'))).toBe(403)
    expect(await put(first.url.replace(/ticket=.*/, ''))).toBe(403)
    expect(await put(first.url)).toBe(200)
  })
})
