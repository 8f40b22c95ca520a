import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { useOwnApp } from '../../../../../test/app.ts'
import { anAgent, anAgentWorld, type AgentWorld } from '../../../../../test/agent-client.ts'
import { aPipeline } from '../../../../../test/builders.ts'
import { reportDue, updateAll } from '../../../../../test/commit-statuses.ts'
import { commitOf } from '../../../../../test/deliveries.ts'
import { sendLog } from '../../../../../test/job-runs.ts'
import {
  aCommentHost,
  commentToken,
  type CommentHost,
  type CommentHostType,
} from '../../../../../test/remote-hosts/comment-host.ts'
import { aBuild } from '../../../../../test/runs.ts'

const app = useOwnApp({ env: { MILLRACE_OUTBOUND_ALLOW: '127.0.0.0/8' } })

let host: CommentHost
let world: AgentWorld
beforeAll(async () => {
  await updateAll(app.ctx)
  host = await aCommentHost()
})
afterAll(() => host.close())
beforeEach(async () => {
  world = await anAgentWorld(app)
  Object.assign(host, { type: 'gitea', comments: [], asked: [], lost: {}, refusing: null })
})

async function aPublished(type: CommentHostType = 'gitea', settings: object = { failure_comment: true }) {
  host.type = type
  const made = await app.request('POST', `${world.org.path}/repository_connections`, {
    token: world.admin.token,
    body: { type, url: 'https://git.example.com', api_url: host.url, token: commentToken },
  })
  if (made.status !== 201) throw new Error(made.text)
  return aPipeline(app, world.org, '{steps: [{label: "Tests @all", command: make}]}', {
    cluster_id: world.cluster.id,
    repository: 'git@git.example.com:acme/app.git',
    provider_settings: JSON.stringify(settings),
  })
}

const pullRequest = { id: '7', base: 'main', repository: null, labels: [], draft: null }

/** Ends one after the other, in the states that the exit statuses say. */
async function anEnded(
  pipeline: { id: string },
  exitStatus: number,
  log = 'it failed\n',
  given: object = {},
) {
  const build = await aBuild(app, world.org, pipeline, { commit: commitOf('head'), pullRequest, ...given })
  const run = await (await anAgent(app, world.token)).begin()
  await sendLog(app, run, log)
  await run.finish(exitStatus)
  return build
}

const after = (seconds: number) => ({ ...app.ctx, now: () => new Date(Date.now() + seconds * 1000) })

async function publish(ctx = app.ctx) {
  await updateAll(ctx)
  await reportDue(ctx)
}

const types: CommentHostType[] = ['gitea', 'forgejo', 'gitlab', 'bitbucket']

describe('a comment with failing lines', () => {
  it.each(types)('is made once, updated, and says when a build passes: %s', async (type) => {
    const pipeline = await aPublished(type)
    const first = await anEnded(pipeline, 1, '--- Tests\nexpected 3 to be 4\n^^^ +++\n')
    await publish()
    expect(host.shown()).toEqual([expect.stringContaining(`#${first.number}]`)])
    expect(host.shown()[0]).toMatch(/failed\*\* at commit [0-9a-f]{12}\.(.|\n)*\n {4}expected 3 to be 4\n/)
    await anEnded(pipeline, 2, 'another failure\n')
    await publish()
    expect(host.shown()).toEqual([expect.stringMatching(/\n {4}another failure\n/)])
    const last = await anEnded(pipeline, 0)
    await publish()
    expect(host.shown()).toEqual([expect.stringMatching(new RegExp(`#${last.number}\\]\\(.*\\) passed`))])
    expect(host.shown()[0]).not.toContain('another failure')
    await publish(after(3600))
    expect(host.asked.filter((method) => method === 'POST')).toHaveLength(1)
  })

  it('is of the newest build, and the same for a job that fails again', async () => {
    const pipeline = await aPublished()
    const build = await anEnded(pipeline, 1, 'first\n')
    await publish()
    const [job] = await app.db.selectFrom('jobs').select('id').where('build_id', '=', build.id).execute()
    const path = `${pipeline.path}/builds/${build.number}/jobs/${job?.id}/retry`
    expect((await app.request('PUT', path, { token: world.admin.token })).status).toBe(200)
    const run = await (await anAgent(app, world.token)).begin()
    await sendLog(app, run, 'second\n')
    await run.finish(1)
    await publish()
    expect(host.shown()).toEqual([expect.stringMatching(/\n {4}second\n/)])
  })

  it('is made once by several workers', async () => {
    const pipeline = await aPublished()
    await anEnded(pipeline, 1)
    await updateAll(app.ctx)
    await Promise.all([reportDue(app.ctx), reportDue(app.ctx), reportDue(app.ctx)])
    expect(host.shown()).toHaveLength(1)
    expect(host.asked).toEqual(['GET', 'POST'])
  })

  it('is not made without the setting', async () => {
    await anEnded(await aPublished('gitea', {}), 1)
    await publish()
    expect(host.asked).toEqual([])
  })

  it('is not made for a branch, nor for what passes', async () => {
    const pipeline = await aPublished()
    await anEnded(pipeline, 1, 'it failed\n', { pullRequest: null })
    await anEnded(pipeline, 1, 'it failed\n', { pullRequest: { ...pullRequest, id: '7/../8' } })
    await anEnded(pipeline, 0)
    await publish()
    expect(host.asked).toEqual([])
  })
})

describe('a host of comments', () => {
  it.each(types)('gets no second one when its answer is lost: %s', async (type) => {
    const pipeline = await aPublished(type)
    host.lost = { POST: 1 }
    await anEnded(pipeline, 1)
    await publish()
    for (let others = 0; others < 30; others += 1) host.add('between')
    await publish(after(600))
    expect(host.shown().filter((text) => text.includes('it failed'))).toHaveLength(1)
    await anEnded(pipeline, 2, 'again\n')
    await publish(after(600))
    expect(host.shown().filter((text) => text !== 'between')).toEqual([
      expect.stringContaining('    again\n'),
    ])
  })

  it('is asked again when it refuses, and the connection says why', async () => {
    const pipeline = await aPublished()
    host.refusing = 403
    await anEnded(pipeline, 1)
    await publish()
    const connections = await app.request('GET', `${world.org.path}/repository_connections`, {
      token: world.admin.token,
    })
    expect(connections.list[0]?.problem).toMatch(/No comment on a pull request: The host answered 403/)
    host.refusing = null
    await publish(after(600))
    expect(host.shown()).toHaveLength(1)
  })

  it('whose people delete the comment gets one for the next failure, and none for what passes', async () => {
    const pipeline = await aPublished('bitbucket')
    await anEnded(pipeline, 1)
    await publish()
    const [first] = host.comments
    if (first === undefined) throw new Error('There is no comment.')
    first.isDeleted = true
    await anEnded(pipeline, 0)
    await publish()
    expect(host.shown()).toEqual([])
    // Whoever copies a comment does not get theirs changed.
    host.add(first.text)
    await anEnded(pipeline, 1, 'again\n')
    await publish()
    expect(host.shown()).toEqual([first.text, expect.stringContaining('    again\n')])
  })

  it('that denies the comment for a while gets no second one', async () => {
    const pipeline = await aPublished()
    await anEnded(pipeline, 1)
    await publish()
    host.refusing = 404
    await anEnded(pipeline, 2, 'again\n')
    await publish()
    host.refusing = null
    await publish(after(600))
    expect(host.shown()).toEqual([expect.stringContaining('    again\n')])
  })
})

describe('the text of a comment', () => {
  it('contains hostile lines as text in its block, within the limit', async () => {
    const pipeline = await aPublished('gitlab')
    const hostile = [
      '```',
      '/close',
      '</code></pre><img src=x>',
      '@root and @{123}',
      'a\u2028/merge',
      '\u202egnp.exe',
      '@'.repeat(100_000),
      ...Array.from({ length: 2000 }, (_, index) => `~~~ ${index} @all`),
      'Error: the end',
    ]
    await anEnded(pipeline, 1, `${hostile.join('\r\n')}\n`)
    await publish()
    const [text = ''] = host.shown()
    expect(text.length).toBeLessThan(20_000)
    expect(text).toContain('    Error: the end')
    expect(text).not.toMatch(/@[\w{@]/)
    const outside = text.split('\n').filter((line) => line !== '' && !line.startsWith('    '))
    expect(outside).toEqual([
      expect.stringMatching(/^\*\*\[[\w/-]+ #\d+\]\(http\S+\) failed\*\* at commit [0-9a-f]{12}\.$/),
      expect.stringMatching(/^\[Failed job\]\(http\S+\):$/),
      expect.stringMatching(/^\[\/\/\]: # \(millrace [0-9a-f-]{36}\)$/),
    ])
  })
})
