import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  aDataDirectory,
  aDirectory,
  eventually,
  spawnMillrace,
  startServer,
  type Server,
} from './millrace.ts'

// A stop that takes longer than the server allows itself ends with 1. `npm run bench -- start` measures stops.
describe('SIGTERM', () => {
  it('stops accepting requests, finishes those in flight, and ends with 0', async () => {
    const server = await startServer({ MILLRACE_DATA_DIR: aDataDirectory() })
    const idle = await open(server)
    const request = await beginPost(server, '{"name":"made while stopping"}')
    server.signal('SIGTERM')
    await untilClosed(server)
    const answer = await request.finish()
    expect(answer).toMatch(/^HTTP\/1\.1 201 /)
    expect(answer).toContain('made while stopping')
    const { code, stderr } = await server.ended
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    idle.destroy()
  })

  it('during the first start ends with 0, and the next start succeeds', async () => {
    const settings = { MILLRACE_DATA_DIR: join(aDirectory(), 'data'), PORT: '0' }
    const first = spawnMillrace(['up'], settings)
    await eventually('something is being made', async () => existsSync(settings.MILLRACE_DATA_DIR))
    first.signal('SIGTERM')
    expect(await first.ended).toMatchObject({ code: 0, stderr: '' })
    expect((await startServer(settings)).url).toMatch(/^http:/)
  })

  it('does not wait for a client that never finishes its request', async () => {
    const server = await startServer({ MILLRACE_DATA_DIR: aDataDirectory() })
    const request = await beginPost(server, '{"name":"never finished"}')
    server.signal('SIGTERM')
    expect((await server.ended).code).toBe(0)
    request.socket.destroy()
  })
})

describe('SIGINT', () => {
  it('counts once if it comes from the terminal and from npm', async () => {
    const server = await startServer({ MILLRACE_DATA_DIR: aDataDirectory() })
    const request = await beginPost(server, '{"name":"finished in peace"}')
    server.signal('SIGINT')
    server.signal('SIGINT')
    await untilClosed(server)
    expect(await request.finish()).toMatch(/^HTTP\/1\.1 201 /)
    expect((await server.ended).code).toBe(0)
  })

  it('ends the process at once if it comes again later', async () => {
    const server = await startServer({ MILLRACE_DATA_DIR: aDataDirectory() })
    const request = await beginPost(server, '{"name":"cut off"}')
    let isOver = false
    void server.ended.then(() => (isOver = true))
    await eventually('the process is gone', async () => {
      server.signal('SIGINT')
      return isOver
    })
    expect((await server.ended).code).toBe(1)
    request.socket.destroy()
  })
})

interface HalfRequest {
  socket: Socket
  /** Sends the rest and returns the response. */
  finish(): Promise<string>
}

/** A request whose body is not complete. Resolves when the server has the headers. */
async function beginPost(server: Server, body: string): Promise<HalfRequest> {
  const socket = await open(server)
  const head = [
    'POST /v2/organizations/default/clusters HTTP/1.1',
    'Host: localhost',
    `Authorization: Bearer ${server.token}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    'Expect: 100-continue',
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
  socket.on('error', () => {})
  await eventually('the server asks for the body', async () => text.startsWith('HTTP/1.1 100 '))
  text = ''
  socket.write(body.slice(0, 5))
  return {
    socket,
    async finish() {
      socket.write(body.slice(5))
      await once(socket, 'close')
      return text
    },
  }
}

async function open(server: Server): Promise<Socket> {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  await once(socket, 'connect')
  return socket
}

/** Looks often, because the server gives requests in flight a few seconds from then on. */
const untilClosed = (server: Server): Promise<boolean> =>
  eventually('the port is closed', () => isClosed(server), undefined, 20)

async function isClosed(server: Server): Promise<boolean> {
  try {
    const socket = await open(server)
    socket.destroy()
    return false
  } catch {
    return true
  }
}
