import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { anAgent } from '../../../../test/agent-client.ts'
import { aFile, announce, batchOf, here, report, upload } from '../../../../test/artifact-files.ts'
import { baseUrl, useOwnApp, type Json } from '../../../../test/app.ts'
import { aMember, aTeam, aToken, auditTrail, inTeam, type TestUser } from '../../../../test/builders.ts'
import { parseMetrics } from '../../../../test/metrics.ts'
import { aRunningJob, jobsOfOneWorld, type RunningScene } from '../../../../test/job-runs.ts'
import { deleteUnclaimed } from '../../../blobs/unclaimed.ts'
import { newId } from '../../../lib/ids.ts'
import { expireSome } from '../retention/run.ts'
import { deleteUnusedBlobs, failMissingArtifacts } from './expire.ts'

const app = useOwnApp()
const aJob = jobsOfOneWorld(app)

const keyOf = async (id: string) => {
  const row = await app.db
    .selectFrom('artifacts')
    .select('blob_key')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return row.blob_key
}
/** All three URLs that list artifacts. */
const listsOf = ({ buildPath, short, long }: RunningScene) =>
  [buildPath, short, long].map((path) => `${path}/artifacts`)
const paths = (list: readonly Json[]) => list.map(({ path }) => path)

it('counts an artifact and its bytes once, when its upload is reported', async () => {
  const counts = async () => {
    const { value } = parseMetrics(await app.ctx.metrics.registry.metrics())
    return [value('millrace_artifacts_uploaded_total'), value('millrace_artifact_uploaded_bytes_total')]
  }
  const [files = 0, bytes = 0] = await counts()
  const { run } = await aJob()
  const [id = ''] = await upload(app, run, [aFile('a.txt', 'twelve bytes')])
  await report(run, [{ id, state: 'finished' }])
  expect(await counts()).toEqual([files + 1, bytes + 12])
})

describe.each([0, 1, 2])('List artifacts, route form %i', (form) => {
  const list = async (scene: RunningScene, query = '') =>
    app.request('GET', `${listsOf(scene)[form]}${query}`, { token: scene.admin.token })

  it('shows every field of the artifact', async () => {
    const scene = await aJob()
    const [id] = await upload(app, scene.run, [aFile('logs/deep/a b.txt', 'hello', { type: 'text/x-log' })])
    const answer = await list(scene)
    const url = `${baseUrl}${scene.long}/artifacts/${id}`
    expect([answer.status, answer.list]).toEqual([
      200,
      [
        {
          id,
          job_id: scene.run.id,
          url,
          download_url: `${url}/download`,
          state: 'finished',
          path: 'logs/deep/a b.txt',
          dirname: 'logs/deep',
          filename: 'a b.txt',
          mime_type: 'text/x-log',
          file_size: 5,
          sha1sum: 'aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d',
          glob_path: null,
          original_path: null,
        },
      ],
    ])
  })

  it('says `.` for the directory of a file at the root', async () => {
    const scene = await aJob()
    await upload(app, scene.run, [aFile('root.txt')])
    expect((await list(scene)).list[0]).toMatchObject({ dirname: '.', filename: 'root.txt' })
  })

  it('filters by path, exact or with * across slashes', async () => {
    const scene = await aJob()
    await upload(
      app,
      scene.run,
      ['a.log', 'logs/a.log', 'logs/deep/b.log', 'logs/100%_x'].map((path) => aFile(path)),
    )
    const found = async (path: string) => paths((await list(scene, `?path=${encodeURIComponent(path)}`)).list)
    expect(await found('a.log')).toEqual(['a.log'])
    expect(await found('logs/*')).toEqual(['logs/a.log', 'logs/deep/b.log', 'logs/100%_x'])
    expect(await found('*.log')).toEqual(['a.log', 'logs/a.log', 'logs/deep/b.log'])
    expect(await found('logs/100%_*')).toEqual(['logs/100%_x'])
    expect(await found('logs/1%')).toEqual([])
    expect(await found('LOGS/a.log')).toEqual([])
  })

  it('filters by state', async () => {
    const scene = await aJob()
    await upload(app, scene.run, [aFile('finished')])
    batchOf(await announce(scene.run, [aFile('new')]))
    const [failed] = batchOf(await announce(scene.run, [aFile('error')])).artifact_ids
    await report(scene.run, [{ id: failed ?? '', state: 'error' }])
    for (const state of ['new', 'error', 'finished']) {
      expect(paths((await list(scene, `?state=${state}`)).list)).toEqual([state])
    }
    expect((await list(scene, '?state=deleted')).list).toEqual([])
    expect((await list(scene, '?state=expired')).list).toEqual([])
    expect(new Set(paths((await list(scene)).list))).toEqual(new Set(['error', 'finished', 'new']))
  })

  it('List artifacts 422: refuses an unknown state, naming it and the accepted ones', async () => {
    const answer = await list(await aJob(), '?state=gone')
    expect([answer.status, answer.body]).toEqual([
      422,
      { message: 'Unknown state "gone"; accepted are new, error, finished, deleted, expired.' },
    ])
  })

  it('pages, oldest first', async () => {
    const scene = await aJob()
    await upload(
      app,
      scene.run,
      ['1', '2', '3'].map((path) => aFile(path)),
    )
    const first = await list(scene, '?per_page=2')
    expect(paths(first.list)).toEqual(['1', '2'])
    expect(first.headers.get('link')).toContain('rel="next"')
    expect(paths((await list(scene, '?per_page=2&page=2')).list)).toEqual(['3'])
  })
})

describe('GET …/builds/{build.number}/artifacts', () => {
  it('lists the artifacts of all jobs of the build and of no other build', async () => {
    const scene = await aRunningJob(app, '{steps: [{command: one}, {command: two}]}')
    const second = await (await anAgent(app, scene.token)).begin()
    await upload(app, scene.run, [aFile('of one')])
    await upload(app, second, [aFile('of two')])
    const list = await app.request('GET', `${scene.buildPath}/artifacts`, { token: scene.admin.token })
    expect(paths(list.list)).toEqual(['of one', 'of two'])
    expect(list.list.map(({ job_id }) => job_id)).toEqual([scene.run.id, second.id])
    expect(
      paths((await app.request('GET', `${scene.long}/artifacts`, { token: scene.admin.token })).list),
    ).toEqual(['of one'])
  })

  it('answers 404 for an unknown build', async () => {
    const { pipeline, admin } = await aJob()
    const answer = await app.request('GET', `${pipeline.path}/builds/99/artifacts`, { token: admin.token })
    expect([answer.status, answer.body]).toEqual([404, { message: 'No build found' }])
  })
})

describe.each(['short', 'long'] as const)('GET …/jobs/{job.id}/artifacts/{id}, %s form', (form) => {
  it('answers with the artifact', async () => {
    const scene = await aJob()
    const [id] = await upload(app, scene.run, [aFile('a.txt')])
    const answer = await app.request('GET', `${scene[form]}/artifacts/${id}`, { token: scene.admin.token })
    const [listed] = (await app.request('GET', `${scene.long}/artifacts`, { token: scene.admin.token })).list
    expect([answer.status, answer.body]).toEqual([200, listed])
  })

  it('answers 404 for an unknown id, an id of another job, and an invalid id', async () => {
    const [scene, other] = [await aRunningJob(app), await aRunningJob(app)]
    const [foreign] = await upload(app, other.run, [aFile('a.txt')])
    for (const id of [newId(), foreign, 'x', '..%2f..%2fetc%2fpasswd', '%252e%252e']) {
      const answer = await app.request('GET', `${scene[form]}/artifacts/${id}`, { token: scene.admin.token })
      expect([id, answer.status]).toEqual([id, 404])
    }
  })
})

describe.each(['short', 'long'] as const)('GET …/jobs/{job.id}/artifacts/{id}/download, %s form', (form) => {
  it('answers 302 with the same URL in Location and body, which serves the file with and without a token', async () => {
    const scene = await aJob()
    const [id] = await upload(app, scene.run, [
      aFile('dir/ré port".html', '<script>alert(1)</script>', { type: 'text/html' }),
    ])
    const answer = await app.request('GET', `${scene[form]}/artifacts/${id}/download`, {
      token: scene.admin.token,
    })
    expect([answer.status, answer.body]).toEqual([302, { url: answer.headers.get('location') }])
    const url = here(app, String(answer.body.url))
    for (const headers of [
      {},
      { Authorization: `Bearer ${scene.admin.token}` },
      { Authorization: 'Bearer nonsense' },
    ]) {
      const file = await fetch(url, { headers })
      expect([file.status, await file.text()]).toEqual([200, '<script>alert(1)</script>'])
      expect(file.headers.get('content-type')).toBe('text/html')
      expect(file.headers.get('content-length')).toBe('25')
      expect(file.headers.get('x-content-type-options')).toBe('nosniff')
      expect(file.headers.get('content-security-policy')).toMatch(/sandbox$/)
      expect(file.headers.get('content-disposition')).toBe(
        `inline; filename="r_ port_.html"; filename*=UTF-8''r%C3%A9%20port%22.html`,
      )
    }
    expect((await fetch(url, { method: 'HEAD' })).headers.get('content-length')).toBe('25')
  })

  it('answers 404 until the file is uploaded', async () => {
    const scene = await aJob()
    const [id] = batchOf(await announce(scene.run, [aFile('a')])).artifact_ids
    const answer = await app.request('GET', `${scene[form]}/artifacts/${id}/download`, {
      token: scene.admin.token,
    })
    expect([answer.status, answer.body]).toEqual([
      404,
      { message: 'The file of the artifact has not been uploaded' },
    ])
  })

  it('redirects to the public URL of a file in the customer’s own store', async () => {
    const scene = await aJob()
    const url = 'https://acme.s3.amazonaws.com/b/a.txt'
    const [id] = await custom(scene, url)
    const answer = await app.request('GET', `${scene[form]}/artifacts/${id}/download`, {
      token: scene.admin.token,
    })
    expect([answer.status, answer.headers.get('location'), answer.body]).toEqual([302, url, { url }])
  })
})

describe.each(['short', 'long'] as const)('GET …/jobs/{job.id}/artifacts/{id}/image, %s form', (form) => {
  it('answers with a picture, which nothing but an image element takes for more', async () => {
    const scene = await aJob()
    const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
    const [id] = await upload(app, scene.run, [aFile('a b.svg', svg, { type: 'image/svg+xml' })])
    const at = `${scene[form]}/artifacts/${id}/image`
    const headers = { Authorization: `Bearer ${scene.admin.token}` }
    const file = await fetch(here(app, `${baseUrl}${at}`), { headers })
    expect([file.status, await file.text()]).toEqual([200, svg])
    expect(file.headers.get('content-type')).toBe('image/svg+xml')
    expect(file.headers.get('content-security-policy')).toMatch(/sandbox$/)
    const head = await fetch(here(app, `${baseUrl}${at}`), { method: 'HEAD', headers })
    expect(head.headers.get('content-length')).toBe(String(svg.length))
  })

  it('answers 404 for what is no picture, is too large, or is in the customer’s own store', async () => {
    const scene = await aJob()
    const large = 'x'.repeat(4 * 1024 * 1024 + 1)
    const ids = await upload(app, scene.run, [
      aFile('a.html', '<p>', { type: 'text/html' }),
      aFile('large.png', large, { type: 'image/png' }),
    ])
    for (const id of [...ids, ...(await custom(scene, 'https://acme.s3.amazonaws.com/b/a.png'))]) {
      const answer = await app.request('GET', `${scene[form]}/artifacts/${id}/image`, {
        token: scene.admin.token,
      })
      expect([answer.status, answer.body]).toEqual([
        404,
        { message: 'The artifact is no picture that pages show' },
      ])
    }
  })
})

async function custom(scene: RunningScene, url: string): Promise<string[]> {
  const file = aFile('a.txt', 'x', { announced: { url } })
  const more = { upload_destination: 's3://acme/b' }
  const answer = batchOf(await announce(scene.run, [file], more))
  expect(answer).not.toHaveProperty('per_artifact_instructions')
  await report(
    scene.run,
    answer.artifact_ids.map((id) => ({ id, state: 'finished' })),
  )
  return answer.artifact_ids
}

describe('a download URL', () => {
  const aDownload = async () => {
    const scene = await aJob()
    const [id, other] = await upload(app, scene.run, [aFile('a'), aFile('b')])
    const answer = await app.request('GET', `${scene.long}/artifacts/${id}/download`, {
      token: scene.admin.token,
    })
    return { scene, id: id ?? '', other: other ?? '', url: here(app, String(answer.body.url)) }
  }

  it('is valid for 60 seconds', async () => {
    const { now } = app.ctx
    const at = now().getTime()
    try {
      app.ctx.now = () => new Date(at)
      const { url } = await aDownload()
      app.ctx.now = () => new Date(at + 59_000)
      expect((await fetch(url)).status).toBe(200)
      app.ctx.now = () => new Date(at + 61_000)
      const late = await fetch(url)
      expect([late.status, await late.json()]).toEqual([
        403,
        { message: 'The address has expired. Ask for a new one.' },
      ])
    } finally {
      app.ctx.now = now
    }
  })

  it('is valid for its own file only, and not after any change to it', async () => {
    const { url, id, other } = await aDownload()
    const forged = [
      url.replace(id, other),
      url.replace(/ticket=\d+/, 'ticket=9999999999'),
      url.replace(/.(?=.$)/, (letter) => (letter === 'A' ? 'B' : 'A')),
      url.replace(/ticket=.*/, 'ticket='),
      url.replace(/\?.*/, ''),
      url.replace(/ticket=.*/, 'ticket=1.AAAA'),
    ]
    for (const address of forged) expect((await fetch(address)).status).toBe(403)
  })

  it('is not valid for an upload', async () => {
    const { url, id } = await aDownload()
    const form = new FormData()
    form.set('artifact_id', id)
    form.set('ticket', new URL(url).searchParams.get('ticket') ?? '')
    form.set('file', new Blob(['x']), 'x')
    expect((await fetch(`${app.address}/v3/uploads`, { method: 'POST', body: form })).status).toBe(403)
  })

  it('answers 404 when the artifact is deleted', async () => {
    const { scene, url, id } = await aDownload()
    await app.request('DELETE', `${scene.short}/artifacts/${id}`, { token: scene.admin.token })
    expect((await fetch(url)).status).toBe(404)
  })
})

describe.each(['short', 'long'] as const)('DELETE …/jobs/{job.id}/artifacts/{id}, %s form', (form) => {
  it('answers 204, and the artifact is gone from all lists, with its object', async () => {
    const scene = await aRunningJob(app)
    const [id, kept] = await upload(app, scene.run, [aFile('a'), aFile('b')])
    const key = (await keyOf(id ?? '')) ?? ''
    expect(await app.ctx.blobs.head(key)).toEqual({ size: 12 })
    const path = `${scene[form]}/artifacts/${id}`
    const gone = await app.request('DELETE', path, { token: scene.admin.token })
    expect([gone.status, gone.text]).toEqual([204, ''])
    expect(await app.ctx.blobs.head(key)).toBeNull()
    expect(await auditTrail(app, scene.org, 'ARTIFACT_DELETED')).toEqual([
      {
        actor: expect.objectContaining({ uuid: scene.admin.id }),
        subject: { type: 'Artifact', uuid: id, name: 'a' },
        data: { job_id: scene.run.id },
      },
    ])
    for (const list of listsOf(scene)) {
      for (const query of ['', '?state=deleted', '?path=a']) {
        const answer = await app.request('GET', `${list}${query}`, { token: scene.admin.token })
        expect(answer.list.map((artifact) => artifact.id)).toEqual(query === '' ? [kept] : [])
      }
    }
    for (const [method, at] of [
      ['GET', path],
      ['GET', `${path}/download`],
      ['DELETE', path],
    ] as const) {
      expect((await app.request(method, at, { token: scene.admin.token })).status).toBe(404)
    }
    const found = await scene.run.call(
      'GET',
      `builds/${scene.build.id}/artifacts/search?query=a&state=finished`,
    )
    expect([found.status, found.text]).toEqual([200, '[]'])
  })

  it('does not delete files in the customer’s own store', async () => {
    const scene = await aJob()
    const [id] = await custom(scene, 'https://acme.example/a')
    const path = `${scene[form]}/artifacts/${id}`
    expect((await app.request('DELETE', path, { token: scene.admin.token })).status).toBe(204)
    expect((await app.request('GET', path, { token: scene.admin.token })).status).toBe(404)
  })
})

describe('DELETE …/jobs/{job.id}/artifacts/{id}', () => {
  it('hides the artifact also when the store fails, and deletes the object in the background', async () => {
    const scene = await aJob()
    const [id] = await upload(app, scene.run, [aFile('a')])
    const key = (await keyOf(id ?? '')) ?? ''
    const { blobs } = app.ctx
    try {
      app.ctx.blobs = { ...blobs, delete: async () => Promise.reject(new Error('The store is away.')) }
      expect(
        (await app.request('DELETE', `${scene.short}/artifacts/${id}`, { token: scene.admin.token })).status,
      ).toBe(204)
    } finally {
      app.ctx.blobs = blobs
    }
    expect((await app.request('GET', `${scene.short}/artifacts`, { token: scene.admin.token })).list).toEqual(
      [],
    )
    await deleteUnclaimed(app.db, blobs)
    expect(await blobs.head(key)).toBeNull()
  })
})

describe('access to artifacts', () => {
  const operations = (scene: RunningScene, id: string) => [
    ...listsOf(scene).map((path) => ['GET', path, 'read_artifacts'] as const),
    ...[scene.short, scene.long].flatMap((job) => [
      ['GET', `${job}/artifacts/${id}`, 'read_artifacts'] as const,
      ['GET', `${job}/artifacts/${id}/download`, 'read_artifacts'] as const,
      ['GET', `${job}/artifacts/${id}/image`, 'read_artifacts'] as const,
      ['DELETE', `${job}/artifacts/${id}`, 'write_artifacts'] as const,
    ]),
  ]

  it('needs the scope of the operation', async () => {
    const scene = await aRunningJob(app)
    const [id = ''] = await upload(app, scene.run, [aFile('a')])
    for (const [method, path, scope] of operations(scene, id)) {
      const others = ['read_builds', 'write_builds', 'read_artifacts', 'write_artifacts'].filter(
        (name) => name !== scope,
      )
      const token = await aToken(app, scene.admin, { scopes: others })
      const answer = await app.request(method, path, { token })
      expect([path, answer.status, answer.body.message]).toEqual([
        path,
        403,
        `Your access token doesn't have the ${scope} scope`,
      ])
    }
  })

  it('depends on the pipeline: 404 without read access, and no deletion with read access only', async () => {
    const scene = await aRunningJob(app)
    const [id = ''] = await upload(app, scene.run, [aFile('a', 'x', { type: 'image/png' })])
    const team = await aTeam(app, scene.org, scene.admin)
    await sql`update organizations set teams_enabled_at = now() where id = ${scene.org.id}`.execute(app.db)
    const stranger = await aMember(app, scene.org)
    const reader: TestUser = await aMember(app, scene.org)
    await inTeam(app, team, scene.admin, reader)
    await sql`insert into team_pipelines (organization_id, team_id, pipeline_id, access_level)
      values (${scene.org.id}, ${team.id}, ${scene.pipeline.id}, 'read_only')`.execute(app.db)
    for (const [method, path] of operations(scene, id)) {
      expect((await app.request(method, path, { token: stranger.token })).status).toBe(404)
      const status = (await app.request(method, path, { token: reader.token })).status
      expect([path, status]).toEqual([
        path,
        method === 'DELETE' ? 403 : path.endsWith('download') ? 302 : 200,
      ])
    }
  })

  it('hides the artifacts of other organizations', async () => {
    const [ours, theirs] = [await aRunningJob(app), await aRunningJob(app)]
    const [id = ''] = await upload(app, theirs.run, [aFile('a')])
    const path = `${ours.org.path}/jobs/${theirs.run.id}/artifacts/${id}`
    for (const method of ['GET', 'DELETE']) {
      expect((await app.request(method, path, { token: ours.admin.token })).status).toBe(404)
    }
  })
})

describe('retention of artifacts', () => {
  const age = (id: string) =>
    sql`update artifacts set created_at = now() - interval '3 days' where id = ${id}`.execute(app.db)

  /** What is due after so many days. */
  const expireAfter = async (scene: RunningScene, days: number) => {
    const now = new Date(Date.now() + days * 24 * 60 * 60 * 1000).toISOString()
    const terms = { now, defaults: app.ctx.config.retention }
    const pace = { stopping: new AbortController().signal, pause: 0 }
    await expireSome(app.ctx, { organizationId: scene.org.id, pipelineIds: [scene.pipeline.id] }, terms, pace)
    await deleteUnusedBlobs(app.ctx)
  }

  it('expires files and their objects after the configured number of days', async () => {
    const scene = await aJob()
    const [id = ''] = await upload(app, scene.run, [aFile('a')])
    const key = (await keyOf(id)) ?? ''
    const path = `${scene.short}/artifacts/${id}`
    const state = async () => (await app.request('GET', path, { token: scene.admin.token })).body.state
    await scene.run.finish(0)
    await expireAfter(scene, 89)
    expect(await state()).toBe('finished')
    await expireAfter(scene, 91)
    expect(await state()).toBe('expired')
    expect(
      (await app.request('GET', `${scene.short}/artifacts?state=expired`, { token: scene.admin.token })).list,
    ).toHaveLength(1)
    const download = await app.request('GET', `${path}/download`, { token: scene.admin.token })
    expect([download.status, download.body]).toEqual([404, { message: 'The artifact has expired' }])
    expect(await app.ctx.blobs.head(key)).toBeNull()
  })

  it('never expires files in the customer’s own store', async () => {
    const scene = await aJob()
    const [id = ''] = await custom(scene, 'https://acme.example/a')
    await scene.run.finish(0)
    await expireAfter(scene, 91)
    const path = `${scene.short}/artifacts/${id}`
    expect((await app.request('GET', path, { token: scene.admin.token })).body.state).toBe('finished')
  })

  it('sets artifacts to error whose file never arrived', async () => {
    const scene = await aJob()
    const [id = ''] = batchOf(await announce(scene.run, [aFile('a')])).artifact_ids
    await age(id)
    await failMissingArtifacts(app.ctx)
    expect(
      (await app.request('GET', `${scene.short}/artifacts/${id}`, { token: scene.admin.token })).body.state,
    ).toBe('error')
  })

  it('deletes the objects of artifacts whose build was deleted', async () => {
    const scene = await aJob()
    const [id = ''] = await upload(app, scene.run, [aFile('a')])
    const key = (await keyOf(id)) ?? ''
    await app.db.deleteFrom('builds').where('id', '=', scene.build.id).execute()
    await deleteUnclaimed(app.db, app.ctx.blobs)
    expect(await app.ctx.blobs.head(key)).toBeNull()
  })
})
