import { writeFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { aCounterpart, anAgent, anAgentFor } from '../../test/agent.ts'
import type { Counterpart } from '../../test/counterpart.ts'

const JOB_FRAME = '000000002A2A280A260A24'
const RESUME = Buffer.from('00000000021200', 'hex')

function jobFrame(id: string): Buffer {
  return Buffer.concat([Buffer.from(JOB_FRAME, 'hex'), Buffer.from(id)])
}

/** Opens the stream for whoever asks, and hands over the newest connection. */
function streaming(server: Counterpart) {
  const streams: ServerResponse[] = []
  server.answer(/StreamPings/, (_, response) => {
    response.writeHead(200, { 'Content-Type': 'application/grpc', Trailer: 'grpc-status' })
    response.write(RESUME)
    streams.push(response)
    return null
  })
  return {
    push: (bytes: Buffer) => streams.at(-1)?.write(bytes),
    end(status: string) {
      streams.at(-1)?.addTrailers({ 'grpc-status': status })
      streams.at(-1)?.end()
    },
    opened: (count: number) => server.heard(/StreamPings/, count),
  }
}

describe('an agent', () => {
  it('registers with its name, tags and queue, connects, and disconnects', async () => {
    const { server, pool } = await anAgent({
      name: 'box-%spawn',
      spawn: 2,
      tags: ['os=plan9', 'queue=old'],
      queue: 'fast',
      priority: 3,
    })
    expect(await pool.connected).toEqual([
      { id: 'agent-id', name: 'tester' },
      { id: 'agent-id', name: 'tester' },
    ])
    const registered = server
      .find(/register$/)
      .map(({ body }) => JSON.parse(body.toString()) as Record<string, unknown>)
    expect(registered.map(({ name }) => String(name)).toSorted()).toEqual(['box-1', 'box-2'])
    expect(registered[0]).toMatchObject({
      meta_data: [
        'os=plan9',
        'queue=fast',
        expect.stringMatching(/^arch=\w+$/),
        expect.stringMatching(/^hostname=./),
      ],
      priority: '3',
      ignore_in_dispatches: false,
    })
    expect(server.find(/register$/)[0]?.headers.authorization).toBe('Token registration-token')
    expect(await pool.stop('graceful')).toMatchObject({ exitStatus: 0 })
    expect(server.find(/^POST \/v3\/disconnect$/)).toHaveLength(2)
  })

  it('tries again while the server is not ready, and fails when it is refused', async () => {
    const server = await aCounterpart()
    server.answer(/register$/, () => (server.find(/register$/).length < 3 ? { status: 503 } : null))
    const { pool } = await anAgentFor(server)
    await pool.connected
    expect(server.find(/register$/)).toHaveLength(3)
    server.answer(/register$/, () => ({ status: 401, body: { message: 'no such token' } }))
    const refused = await anAgentFor(server)
    await expect(refused.pool.connected).rejects.toThrow('no such token')
    expect(await refused.pool.ended).toMatchObject({ exitStatus: 1 })
  })

  it('keeps the headers that the server asks for, also inside jobs', async () => {
    const server = await aCounterpart()
    server.answer(/register$/, () => ({
      status: 200,
      body: {
        id: 'a',
        name: 'n',
        access_token: 's',
        ping_interval: 1,
        heartbeat_interval: 10,
        job_status_interval: 1,
        request_headers: { 'Buildkite-Shard': '7', 'X-Other': 'no' },
      },
    }))
    await anAgentFor(server)
    const id = server.offer({ BUILDKITE_COMMAND: 'echo "shard $BUILDKITE_REQUEST_HEADER_BUILDKITE_SHARD"' })
    await server.finished(id)
    expect(server.log(id)).toContain('shard 7')
    const { headers } = await server.heard(/accept$/)
    expect(headers['buildkite-shard']).toBe('7')
    expect(headers['x-other']).toBeUndefined()
  })

  it('ends when the server asks it to disconnect, and when the server no longer knows it', async () => {
    const { server, pool } = await anAgent()
    server.idle = { action: 'disconnect', message: 'bye' }
    expect(await pool.ended).toMatchObject({ exitStatus: 0 })
    const second = await anAgent()
    second.server.answer(/ping$/, () => ({ status: 401, body: { message: 'gone' } }))
    expect(await second.pool.ended).toMatchObject({ exitStatus: 1 })
  })

  it('takes no job while it is paused', async () => {
    const { server } = await anAgent()
    server.answer(/ping$/, () => ({ status: 200, body: { action: 'pause', job: { id: 'x' } } }))
    const id = server.offer({ BUILDKITE_COMMAND: 'true' })
    await server.heard(/ping$/, 4)
    expect(server.find(/accept$/)).toEqual([])
    server.answer(/ping$/, () => ({ status: 200, body: { job: { id } } }))
    expect(await server.finished(id)).toMatchObject({ exit_status: '0' })
  })

  it('goes on asking when a job is given to somebody else', async () => {
    const { server } = await anAgent()
    server.answer(/accept$/, () => (server.find(/accept$/).length === 1 ? { status: 422 } : null))
    const id = server.offer({ BUILDKITE_COMMAND: 'true' })
    expect(await server.finished(id)).toMatchObject({ exit_status: '0' })
    expect(server.find(/accept$/)).toHaveLength(2)
  })

  it.each([
    ['an error of the server', (response: ServerResponse) => response.writeHead(500).end()],
    ['no answer at all', (response: ServerResponse) => response.writeHead(200).destroy()],
  ])('accepts a job again after %s, without being offered it again', async (_, fail) => {
    const server = await aCounterpart()
    const stream = streaming(server)
    await anAgentFor(server, { pingMode: 'stream-only' })
    await stream.opened(1)
    server.answer(/accept$/, (_told, response) => {
      if (server.find(/accept$/).length <= 3) fail(response)
      return null
    })
    const id = server.offer({ BUILDKITE_COMMAND: 'true' })
    stream.push(jobFrame(id))
    expect(await server.finished(id)).toMatchObject({ exit_status: '0' })
    expect(server.find(/accept$/)).toHaveLength(4)
  })

  it('lets the job end before it stops gracefully, and says meanwhile that it stops', async () => {
    const { server, pool, folder } = await anAgent()
    const gate = join(folder, 'gate')
    const id = server.offer({
      BUILDKITE_COMMAND: `echo ready; until [ -e ${gate} ]; do sleep 0.05; done; echo done`,
    })
    await server.logHas(id, '\nready\n')
    const stopped = pool.stop('graceful')
    const { body } = await server.heard(/POST \/v3\/stop$/)
    expect(JSON.parse(String(body))).toEqual({ force: false })
    await writeFile(gate, '')
    await stopped
    expect(await server.finished(id)).toMatchObject({ exit_status: '0' })
    expect(server.log(id)).toContain('done\n')
  })

  it('gives up the job when its heartbeat is refused', async () => {
    const { server, pool } = await anAgent()
    const id = server.offer({ BUILDKITE_COMMAND: 'echo ready; sleep 1000' })
    await server.logHas(id, '\nready\n')
    server.answer(/heartbeat$/, () => ({ status: 401, body: { message: 'who are you' } }))
    expect(await server.finished(id)).toMatchObject({ exit_status: '-1', signal_reason: 'agent_stop' })
    expect(await pool.ended).toMatchObject({ exitStatus: 1 })
  })

  it('ends after one job, or after being idle for long, if it is to', async () => {
    const { server, pool } = await anAgent({ disconnectAfterJob: true })
    const id = server.offer({ BUILDKITE_COMMAND: 'true' })
    expect(await server.finished(id)).toMatchObject({ ignore_agent_in_dispatches: true })
    expect(await pool.ended).toMatchObject({ exitStatus: 0 })
    const idle = await anAgent({ disconnectAfterIdleSeconds: 0.2 })
    expect(await idle.pool.ended).toMatchObject({ exitStatus: 0 })
  })
})

describe('an agent whose server has gone', () => {
  it('ends when it is idle and has not been answered for as long as it may', async () => {
    const { server, pool } = await anAgent({ disconnectAfterSilenceSeconds: 1 })
    server.answer(/(heartbeat|ping|disconnect)$/, () => ({ status: 503 }))
    expect(await pool.ended).toMatchObject({ exitStatus: 0 })
  })
})

describe('acquiring one job', () => {
  it('runs it and ends', async () => {
    const server = await aCounterpart()
    const id = server.offer({ BUILDKITE_COMMAND: 'exit 5' })
    const { pool } = await anAgentFor(server, { acquireJob: id })
    expect(await pool.ended).toMatchObject({ exitStatus: 0, agents: [{ lastJob: { exit_status: '5' } }] })
    expect(JSON.parse(String((await server.heard(/register$/)).body))).toMatchObject({
      ignore_in_dispatches: true,
    })
    const { headers } = await server.heard(/acquire$/)
    expect(headers['x-buildkite-lock-acquire-job']).toBe('1')
    expect(headers['x-buildkite-backoff-sequence']).toBe('0')
  })

  it('ends with 27 when the job is not to be had, and waits while it is not ready', async () => {
    const server = await aCounterpart()
    server.answer(/acquire$/, () => ({ status: 422, body: { message: 'taken' } }))
    const refused = await anAgentFor(server, { acquireJob: 'j' })
    expect(await refused.pool.ended).toMatchObject({ exitStatus: 27 })
    const id = server.offer({ BUILDKITE_COMMAND: 'true' })
    const before = server.find(/acquire$/).length
    server.answer(/acquire$/, () =>
      server.find(/acquire$/).length < before + 3
        ? { status: 423, headers: { 'Retry-After': '1' } }
        : { status: 200, body: server.jobOf(id) },
    )
    const waiting = await anAgentFor(server, { acquireJob: id })
    expect(await waiting.pool.ended).toMatchObject({ exitStatus: 0 })
    expect(server.find(/acquire$/)).toHaveLength(before + 3)
  })
})

describe('the ping stream', () => {
  it('brings jobs at once, without asking', async () => {
    const server = await aCounterpart()
    const stream = streaming(server)
    await anAgentFor(server, { pingMode: 'auto' })
    await stream.opened(1)
    const id = server.offer({ BUILDKITE_COMMAND: 'true' })
    stream.push(jobFrame(id))
    await server.finished(id)
    expect(server.find(/ping$/)).toEqual([])
    const { headers, body } = await stream.opened(1)
    expect(headers['content-type']).toBe('application/grpc')
    expect(body.subarray(5).toString()).toContain('agent-id')
  })

  it('is not enough for an agent that has dropped a job: it asks once, to say that it is idle', async () => {
    const server = await aCounterpart()
    const stream = streaming(server)
    server.answer(/lost-+\/accept$/, () => ({ status: 422 }))
    await anAgentFor(server, { pingMode: 'auto' })
    await stream.opened(1)
    stream.push(jobFrame('lost'.padEnd(36, '-')))
    await server.heard(/accept$/)
    await server.heard(/ping$/)
    const id = server.offer({ BUILDKITE_COMMAND: 'true' })
    stream.push(jobFrame(id))
    expect(await server.finished(id)).toMatchObject({ exit_status: '0' })
  })

  it('is opened again when it ends', async () => {
    const server = await aCounterpart()
    const stream = streaming(server)
    await anAgentFor(server, { pingMode: 'auto' })
    await stream.opened(1)
    stream.end('0')
    await stream.opened(2)
    const id = server.offer({ BUILDKITE_COMMAND: 'true' })
    stream.push(jobFrame(id))
    await server.finished(id)
    expect(server.find(/ping$/)).toEqual([])
  })

  it('gives way to asking for good where there is none', async () => {
    const { server } = await anAgent({ pingMode: 'auto' })
    await server.heard(/ping$/, 3)
    expect(server.find(/StreamPings/)).toHaveLength(1)
  })

  it('gives way to asking while it is broken, silent or not what it should be', async () => {
    const server = await aCounterpart()
    server.answer(/StreamPings/, () => ({ status: 503 }))
    await anAgentFor(server, { pingMode: 'auto' })
    await server.heard(/ping$/, 2)
    const stream = streaming(server)
    await stream.opened(server.find(/StreamPings/).length + 1)
    const runOne = async () => {
      const id = server.offer({ BUILDKITE_COMMAND: 'true' })
      stream.push(jobFrame(id))
      await server.finished(id)
    }
    // The agent may still ask until it knows that the stream works, which the first job tells it.
    await runOne()
    const asked = server.find(/ping$/).length
    await runOne()
    expect(server.find(/ping$/)).toHaveLength(asked)
  })

  it('pauses, resumes and disconnects the agent', async () => {
    const server = await aCounterpart()
    const stream = streaming(server)
    const { pool } = await anAgentFor(server, { pingMode: 'stream-only' })
    await stream.opened(1)
    stream.push(Buffer.from('00000000021a00', 'hex'))
    stream.push(Buffer.from('00000000022200', 'hex'))
    expect(await pool.ended).toMatchObject({ exitStatus: 0 })
  })

  it('does not keep an idle agent from stopping', async () => {
    const server = await aCounterpart()
    const stream = streaming(server)
    const { pool } = await anAgentFor(server, { pingMode: 'auto' })
    await stream.opened(1)
    expect(await pool.stop('graceful')).toMatchObject({ exitStatus: 0 })
  })

  it('is all there is for an agent that may not ask', async () => {
    const { server, pool } = await anAgent({ pingMode: 'stream-only' })
    expect(await pool.ended).toMatchObject({ exitStatus: 1 })
    expect(server.find(/ping$/)).toEqual([])
  })
})
