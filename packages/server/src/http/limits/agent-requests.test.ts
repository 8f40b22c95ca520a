// Abuse case R36: pings and downloads that hold the connections of a process.
import { connect, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { anAgent, anAgentWorld, type TestAgent } from '../../../test/agent-client.ts'
import { eventually, useOwnApp } from '../../../test/app.ts'
import { aFile, here, upload } from '../../../test/artifact-files.ts'
import { aRunningJob } from '../../../test/job-runs.ts'
import { hashToken } from '../../lib/ids.ts'
import { agentRequests } from './agent-requests.ts'

const app = useOwnApp({
  env: {
    MILLRACE_REQUESTS_AGENT: '4',
    MILLRACE_REQUESTS_AGENTS: '6',
    MILLRACE_PING_HOLD_SECONDS: '30',
  },
})

/** More than the buffers of a connection take. */
const largeBytes = 32 * 1024 * 1024

const noneIsHeld = () => eventually('all have ended', async () => agentRequests(app.ctx).held === 0)

describe('requests under way', () => {
  it('are limited in number for an agent, and for all agents of an organization', async () => {
    const { token } = await anAgentWorld(app)
    const [greedy, another] = [await anAgent(app, token), await anAgent(app, token)]
    const elsewhere = await anAgent(app, (await anAgentWorld(app)).token)
    await noneIsHeld()
    const leaving = new AbortController()
    onTestFinished(() => leaving.abort())
    const ping = ({ session }: TestAgent) => {
      const headers = { authorization: `Token ${session}` }
      return fetch(`${app.address}/v3/ping`, { headers, signal: leaving.signal })
    }
    const hold = async (agent: TestAgent, count: number) => {
      const wanted = agentRequests(app.ctx).held + count
      for (let more = 0; more < count; more++) ping(agent).catch(() => {})
      await eventually('the pings wait', async () => agentRequests(app.ctx).held === wanted)
    }
    await hold(greedy, 4)
    const refused = await ping(greedy)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '2'])
    expect(await refused.json()).toMatchObject({ message: expect.stringContaining('You have 4 requests') })
    await hold(another, 2)
    expect(await (await ping(another)).json()).toMatchObject({
      message: expect.stringContaining('The organization has 6 requests'),
    })
    await hold(elsewhere, 1)
    leaving.abort()
    await noneIsHeld()
  })

  it('are not limited in number for a token, with which a whole fleet registers at once', async () => {
    const { token } = await anAgentWorld(app)
    const { id: sender, organization_id: organizationId } = await app.db
      .selectFrom('cluster_tokens')
      .select(['id', 'organization_id'])
      .where('token_hash', '=', hashToken(token))
      .executeTakeFirstOrThrow()
    for (let count = 0; count < 4; count++)
      onTestFinished(agentRequests(app.ctx).take({ organizationId, sender }))
    expect(await anAgent(app, token)).toMatchObject({ session: expect.any(String) })
  })

  it('are limited in number for the address of a download', async () => {
    const scene = await aRunningJob(app)
    const [id] = await upload(app, scene.run, [aFile('large', Buffer.alloc(largeBytes, 'x'))])
    const answer = await app.request('GET', `${scene.long}/artifacts/${id}/download`, {
      token: scene.admin.token,
    })
    const url = new URL(here(app, String(answer.body.url)))
    await noneIsHeld()
    const readers: Socket[] = []
    onTestFinished(() => readers.forEach((socket) => socket.destroy()))
    for (let count = 0; count < 4; count++) {
      const socket = connect(Number(url.port), url.hostname).pause()
      socket.write(`GET ${url.pathname}${url.search} HTTP/1.1\r\nHost: millrace.test\r\n\r\n`)
      readers.push(socket)
    }
    await eventually('the downloads wait', async () => agentRequests(app.ctx).held === 4)
    expect((await fetch(url)).status).toBe(429)
    for (const socket of readers) socket.destroy()
    await noneIsHeld()
  })
})
