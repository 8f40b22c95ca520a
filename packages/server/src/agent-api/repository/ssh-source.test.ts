// What a job may hold on the server by reading its repository over ssh. A program named ssh on the path takes the place of a
// connection; it announces what it can do, and then says nothing more.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { aHostedRepository, type HostedRepository } from '../../../../../testbed/src/git-host.ts'
import { anAgent, anAgentWorld } from '../../../test/agent-client.ts'
import { eventually, useOwnApp } from '../../../test/app.ts'
import { aPipeline } from '../../../test/builders.ts'
import { aBuild } from '../../../test/runs.ts'
import { writePackets } from '../../source-hosts/pkt-lines.ts'
import type { BuildRequest } from '../../conductor/build.ts'
import { mostOfFork, mostOfJob, takePlace } from './places.ts'
import { openSsh } from './ssh-source.ts'

const app = useOwnApp({ env: { MILLRACE_PING_HOLD_SECONDS: '0', MILLRACE_OUTBOUND_ALLOW: '127.0.0.0/8' } })

let repository: HostedRepository
let main: string
let started: string
beforeAll(async () => {
  repository = await aHostedRepository()
  main = await repository.push('refs/heads/main', { greeting: 'hello\n' })
  const bin = join(repository.root, 'bin')
  mkdirSync(bin)
  started = join(repository.root, 'started')
  writeFileSync(
    join(bin, 'ssh'),
    `#!/bin/sh
git upload-pack '${repository.bare}' < /dev/null
echo $$ >> '${started}'
exec sleep 1000
`,
    { mode: 0o755 },
  )
  vi.stubEnv('PATH', `${bin}:${process.env['PATH'] ?? ''}`)
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await repository.remove()
})
beforeEach(() => writeFileSync(started, ''))

const processes = () => readFileSync(started, 'utf8').split('\n').filter(Boolean).map(Number)
const running = () => processes().filter(isRunning)

function isRunning(id: number): boolean {
  try {
    return process.kill(id, 0)
  } catch {
    return false
  }
}

const address = 'git@127.0.0.1:acme/app.git'
const ls = writePackets(['command=ls-refs\n', 'delimiter', 'flush'])

async function aReadingJob(build: Partial<BuildRequest> = {}) {
  const world = await anAgentWorld(app)
  const pipeline = await aPipeline(app, world.org, 'steps: [{ command: one }]', { repository: address })
  await app.request('POST', `${pipeline.path}/deploy_key`, { token: world.admin.token })
  await aBuild(app, world.org, pipeline, { commit: main, ...build })
  const run = await (await anAgent(app, world.token)).begin()
  const read = () => {
    const leaving = new AbortController()
    const answer = fetch(`${app.address}/v3/jobs/${run.id}/repository.git/git-upload-pack`, {
      method: 'POST',
      headers: { Authorization: `Token ${run.token}`, 'Git-Protocol': 'version=2' },
      body: new Uint8Array(ls),
      signal: leaving.signal,
    }).catch(() => null)
    return { leave: () => leaving.abort(), answer }
  }
  return { run, read }
}

const pull = { id: '7', base: 'main', repository: null, labels: [], draft: false, fork: true }

describe('reading a repository over ssh', () => {
  it.each([
    ['a job', mostOfJob, {}],
    [
      'a job of a fork',
      mostOfFork,
      { commitOrigin: 'fork', branch: 'mallory:main', pullRequest: pull },
    ] as const,
  ])('runs a few processes at a time for %s, and the next when one has ended', async (_, most, build) => {
    const { run, read } = await aReadingJob(build)
    const other = await aReadingJob()
    const reads = Array.from({ length: most + 3 }, read)
    await eventually('as many as may run', async () => processes().length === most)
    // By the time that another request is answered, those that wait would have begun.
    expect((await run.call('GET', `jobs/${run.id}/repository_access`)).status).toBe(200)
    const ofOther = other.read()
    await eventually('another job reads', async () => processes().length > most)
    ofOther.leave()
    await eventually('its process has ended', async () => running().length === most)
    process.kill(running()[0] ?? 0)
    await eventually('the next one runs', async () => processes().length >= most + 2)
    expect(running().length).toBeLessThanOrEqual(most)
    for (const { leave } of reads) leave()
    await eventually('nothing runs any more', async () => running().length === 0)
  })

  it('gives up a host that answers and is silent then', async () => {
    const reading = {
      address: { user: 'git', host: '127.0.0.1', port: null, path: 'acme/app.git' },
      privateKey: 'none',
    }
    const { send } = await openSsh(app.ctx, reading, new AbortController().signal)
    await eventually('it is silent', async () => running().length === 1)
    await expect(buffer(send(ls, 20))).rejects.toThrow('The host sent nothing for too long.')
    await eventually('its process has ended', async () => running().length === 0)
  })

  it('refuses with 503 what waits for too long, and keeps no place for what is gone', async () => {
    const [first, second, third] = [new AbortController(), new AbortController(), new AbortController()]
    await takePlace('one', 1, first.signal)
    await expect(takePlace('one', 1, third.signal, 1)).rejects.toMatchObject({ status: 503 })
    const waiting = takePlace('one', 1, second.signal)
    const leaving = takePlace('one', 1, third.signal)
    third.abort()
    await expect(leaving).rejects.toMatchObject({ status: 503 })
    first.abort()
    await waiting
    second.abort()
    await takePlace('one', 1, new AbortController().signal, 1)
  })
})
