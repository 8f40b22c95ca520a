import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { createServer as createNetServer, type AddressInfo, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { cert, key } from '../../test/remote-hosts/certificate.ts'
import { outboundClient, OutboundError, type OutboundOptions, type OutboundRequest } from './outbound.ts'
import { mayReach } from './outbound-addresses.ts'
import type { Resolve } from './reachable.ts'

const closing: Array<() => unknown> = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

function aClient(options: Partial<OutboundOptions> = {}) {
  const client = outboundClient({ allow: '', timeoutMs: 60_000, bodyMs: 60_000, ...options })
  closing.push(client.close)
  const send = (url: string, more: Partial<OutboundRequest> = {}) =>
    client.send({ method: 'POST', url, headers: {}, body: 'hello', ...more })
  return { send }
}

const loopback = { allow: '127.0.0.0/8' }

async function aServer(answer: RequestListener): Promise<{ port: number; hits: () => number }> {
  let hits = 0
  const server = createServer((request, response) => {
    hits += 1
    answer(request, response)
  })
  const port = await listening(server)
  return { port, hits: () => hits }
}

async function listening(server: Server | ReturnType<typeof createNetServer>): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  await new Promise<void>((heard) => server.listen(0, '127.0.0.1', heard))
  closing.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

describe('open', () => {
  it('keeps what may not go over the internet on addresses that the operator allows', async () => {
    const { port } = await aServer((_, response) => void response.end('there'))
    const ask = async (address: string, allow: string, staysPrivate: boolean) => {
      const client = outboundClient({ allow, resolve: async () => [address] })
      closing.push(client.close)
      const request = { method: 'GET', headers: {}, body: null, staysPrivate } as const
      const signal = new AbortController().signal
      return client.open({ ...request, url: `http://git.invalid:${port}/`, signal }).then(
        async ({ body }) => text(body),
        (error: OutboundError) => error.kind,
      )
    }
    expect(await ask('127.0.0.1', '127.0.0.0/8', true)).toBe('there')
    expect(await ask('203.0.114.1', '127.0.0.0/8', true)).toBe('refused')
    expect(await ask('127.0.0.1', '', false)).toBe('refused')
  })
})

describe('addresses that may be reached (abuse case 14)', () => {
  it.each([
    ['loopback', ['127.0.0.1', '127.8.9.10', '::1']],
    ['private', ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fc00::1', 'fd12::1']],
    ['link-local, where clouds keep their metadata', ['169.254.169.254', 'fe80::1', 'fd00:ec2::254']],
    ['shared by carriers', ['100.64.0.1', '100.100.100.200']],
    ['nobody’s', ['0.0.0.0', '0.1.2.3', '::', '255.255.255.255', '240.0.0.1']],
    ['for groups', ['224.0.0.1', '239.1.1.1', 'ff02::1']],
    [
      'for documents and benchmarks',
      ['192.0.2.1', '198.51.100.1', '203.0.113.1', '198.18.0.1', '2001:db8::1'],
    ],
    ['for special services', ['192.0.0.192', '168.63.129.16', '192.88.99.1']],
    [
      'IPv4 written as IPv6',
      ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '::127.0.0.1', '::7f00:1'],
    ],
    [
      'IPv4 through a translator',
      ['64:ff9b::7f00:1', '64:ff9b:1::7f00:1', '2002:7f00:1::', '2001:0:7f00:1::'],
    ],
    ['with a zone', ['fe80::1%lo']],
    ['none at all', ['', 'localhost', '1.2.3', '1.2.3.4.5', '0x7f.1', '2130706433']],
  ])('are not those that are %s', (_, addresses) => {
    expect(addresses.filter((address) => mayReach(address, ''))).toEqual([])
  })

  it('are public ones, and those the operator allows', () => {
    const open = ['8.8.8.8', '1.1.1.1', '172.15.0.1', '172.32.0.1', '100.63.0.1', '2606:4700:4700::1111']
    expect(open.filter((address) => !mayReach(address, ''))).toEqual([])
    expect(mayReach('10.1.2.3', '10.1.0.0/16')).toBe(true)
    expect(mayReach('10.2.2.3', '10.1.0.0/16')).toBe(false)
    expect(mayReach('::ffff:10.1.2.3', '10.1.0.0/16')).toBe(true)
    expect(mayReach('fd00::1', 'fd00::/8')).toBe(true)
  })
})

describe('the client for URLs that users set (abuse case 14)', () => {
  it('posts, and answers with status, headers and body', async () => {
    const { port } = await aServer((request, response) => {
      request.resume()
      response.writeHead(201, { 'X-Test': ['a', 'b'] })
      response.end('made')
    })
    const answer = await aClient(loopback).send(`http://127.0.0.1:${port}/x`)
    expect([answer.status, answer.body.toString(), answer.isCut]).toEqual([201, 'made', false])
    expect(answer.headers['x-test']).toBe('a, b')
  })

  it.each([
    'http://127.0.0.1:PORT/',
    'http://localhost:PORT/',
    'http://LOCALHOST.:PORT/',
    'http://anything.localhost:PORT/',
    'http://2130706433:PORT/',
    'http://0x7f000001:PORT/',
    'http://0177.0.0.1:PORT/',
    'http://017700000001:PORT/',
    'http://127.1:PORT/',
    'http://0.0.0.0:PORT/',
    'http://0:PORT/',
    'http://①②⑦.⓪.⓪.①:PORT/',
    'http://127.0.0.1%2e:PORT/',
    'http://[::1]:PORT/',
    'http://[::ffff:127.0.0.1]:PORT/',
    'http://[::ffff:7f00:1]:PORT/',
    'http://[0:0:0:0:0:ffff:127.0.0.1]:PORT/',
    'http://[64:ff9b::127.0.0.1]:PORT/',
    'http://[::127.0.0.1]:PORT/',
  ])('never reaches a server on this machine through %s', async (url) => {
    const { port, hits } = await aServer((_, response) => response.end())
    const sent = aClient().send(url.replace('PORT', String(port)))
    await expect(sent).rejects.toBeInstanceOf(OutboundError)
    expect(hits()).toBe(0)
  })

  it.each([
    'file:///etc/passwd',
    'unix:/var/run/docker.sock',
    'http+unix://%2Fvar%2Frun%2Fdocker.sock/info',
    'ftp://example.com/',
    'gopher://example.com/',
    'data:text/plain,x',
    'http://user:secret@example.com/',
    'http://',
    'not a url',
    '//example.com/',
  ])('refuses %s for good', async (url) => {
    await expect(aClient(loopback).send(url)).rejects.toMatchObject({ kind: 'refused' })
  })

  it('resolves a name once and connects to that address, so that changing the DNS entry does not help', async () => {
    const { port, hits } = await aServer((_, response) => response.end())
    const asked: string[] = []
    const answers = [['93.184.216.34'], ['127.0.0.1'], ['127.0.0.1']]
    const resolve: Resolve = async (name) => {
      asked.push(name)
      return answers[asked.length - 1] ?? []
    }
    const { send } = aClient({ resolve, timeoutMs: 400 })
    await expect(send(`http://rebind.example:${port}/`)).rejects.toMatchObject({ kind: 'failed' })
    expect(asked).toEqual(['rebind.example'])
    await expect(send(`http://rebind.example:${port}/`)).rejects.toMatchObject({ kind: 'refused' })
    expect(hits()).toBe(0)
  })

  it('tries only the public addresses of a name, and the next when one does not respond', async () => {
    const { port, hits } = await aServer((_, response) => response.end())
    const mixed: Resolve = async () => ['10.0.0.1', '169.254.169.254', '::1']
    await expect(aClient({ resolve: mixed }).send(`http://mixed.example:${port}/`)).rejects.toMatchObject({
      kind: 'refused',
    })
    const second: Resolve = async () => ['127.0.0.2', '127.0.0.1']
    const answer = await aClient({ ...loopback, resolve: second }).send(`http://two.example:${port}/`)
    expect([answer.status, hits()]).toEqual([200, 1])
  })

  it('does not reveal the address of a name', async () => {
    const resolve: Resolve = async () => ['10.20.30.40']
    const sent = aClient({ resolve }).send('http://secret.internal/')
    await expect(sent).rejects.toThrow(/^secret\.internal does not lead to a public address/)
    await expect(sent).rejects.not.toThrow(/10\.20/)
    await expect(sent).rejects.toThrow(/MILLRACE_OUTBOUND_ALLOW=ADDRESS, .* "getent hosts secret\.internal"/)
  })

  it.each([
    ['http://10.20.30.40:3000/', 'MILLRACE_OUTBOUND_ALLOW=10.20.30.40;'],
    ['http://[fd00::1]/', 'MILLRACE_OUTBOUND_ALLOW=fd00::1;'],
  ])('says how the operator allows %s, and that works', async (url, setting) => {
    await expect(aClient({}).send(url)).rejects.toThrow(setting)
    const [, allow = ''] = /=(.*);/.exec(setting) ?? []
    expect(mayReach(allow, allow)).toBe(true)
  })

  it.each([301, 302, 303, 307, 308])('follows no redirect: %i', async (status) => {
    const inside = await aServer((_, response) => response.end('inside'))
    const { port } = await aServer((_, response) => {
      response.writeHead(status, { Location: `http://127.0.0.1:${inside.port}/` })
      response.end()
    })
    expect((await aClient(loopback).send(`http://127.0.0.1:${port}/`)).status).toBe(status)
    expect(inside.hits()).toBe(0)
  })

  it('reads the beginning of an endless body and closes the connection', async () => {
    let hasClosed = false
    const { port } = await aServer((_, response) => {
      response.on('close', () => {
        hasClosed = true
      })
      const more = () => {
        if (!hasClosed && response.write(Buffer.alloc(65_536, 'x'))) setImmediate(more)
      }
      response.on('drain', more)
      more()
    })
    const answer = await aClient(loopback).send(`http://127.0.0.1:${port}/`)
    expect([answer.status, answer.body.length, answer.isCut]).toEqual([200, 16_384, true])
    await expect.poll(() => hasClosed).toBe(true)
  })

  it('reads as much as the request allows', async () => {
    const { port } = await aServer((_, response) => response.end(Buffer.alloc(100_000, 'x')))
    const ask = (keptBytes: number) => aClient(loopback).send(`http://127.0.0.1:${port}/`, { keptBytes })
    const [all, part] = [await ask(100_000), await ask(50_000)]
    expect([all.body.length, all.isCut, part.body.length, part.isCut]).toEqual([100_000, false, 50_000, true])
  })

  it('does not decompress bodies', async () => {
    const bomb = gzipSync(Buffer.alloc(20 * 1024 * 1024))
    const { port } = await aServer((_, response) => {
      response.writeHead(200, { 'Content-Encoding': 'gzip' })
      response.end(bomb)
    })
    const answer = await aClient(loopback).send(`http://127.0.0.1:${port}/`)
    expect(answer.body.equals(bomb.subarray(0, 16_384))).toBe(true)
  })

  it('returns the status, however slowly the body follows', async () => {
    const { port } = await aServer((_, response) => {
      response.writeHead(200)
      response.write('drip')
    })
    // Nothing else ends the response.
    const { send } = aClient({ ...loopback, timeoutMs: 600_000, bodyMs: 300 })
    const answer = await send(`http://127.0.0.1:${port}/`)
    expect([answer.status, answer.body.toString(), answer.isCut]).toEqual([200, 'drip', true])
  })

  it('reuses idle connections, and never waits for a busy one', async () => {
    const waiting: ServerResponse[] = []
    const sockets = new Set<Socket>()
    const { port } = await aServer((request, response) => {
      sockets.add(request.socket)
      if (request.url === '/hang') waiting.push(response)
      else response.end()
    })
    const { send } = aClient(loopback)
    for (let n = 0; n < 10; n++) await send(`http://127.0.0.1:${port}/`)
    // The next request may come a moment before the connection of the last one is free.
    expect(sockets.size).toBeLessThanOrEqual(2)
    const hanging = Array.from({ length: 40 }, () => send(`http://127.0.0.1:${port}/hang`))
    await expect.poll(() => waiting.length).toBe(40)
    expect((await send(`http://127.0.0.1:${port}/`)).status).toBe(200)
    for (const response of waiting) response.end()
    await Promise.all(hanging)
  })

  it('waits for the final response after informational ones', async () => {
    const { port } = await aServer((_, response) => {
      response.writeEarlyHints({ link: '</x>; rel=preload' })
      response.statusCode = 202
      response.end('done')
    })
    const answer = await aClient(loopback).send(`http://127.0.0.1:${port}/`)
    expect([answer.status, answer.body.toString()]).toEqual([202, 'done'])
  })

  it('sends nothing when it times out before it is connected', async () => {
    const { port, hits } = await aServer((_, response) => response.end())
    let lookUp: (addresses: string[]) => void = () => {}
    const resolve: Resolve = () =>
      new Promise((resolved) => {
        lookUp = resolved
      })
    const { send } = aClient({ ...loopback, resolve, timeoutMs: 100 })
    await expect(send(`http://slow.example:${port}/`)).rejects.toThrow('No answer within 0.1 seconds.')
    lookUp(['127.0.0.1'])
    await aClient(loopback).send(`http://127.0.0.1:${port}/`)
    expect(hits()).toBe(1)
  })

  it('times out when a server sends nothing, or its headers letter by letter', async () => {
    const silent = await listening(createNetServer(() => {}))
    const slow = await listening(
      createNetServer((socket) => {
        const timer = setInterval(() => socket.write('X'), 20)
        socket.on('close', () => clearInterval(timer))
        socket.write('HTTP/1.1 200 OK\r\nX-Slow: ')
      }),
    )
    const { send } = aClient({ ...loopback, timeoutMs: 300 })
    for (const port of [silent, slow]) {
      await expect(send(`http://127.0.0.1:${port}/`)).rejects.toThrow('No answer within 0.3 seconds.')
    }
  })

  it('refuses endless headers', async () => {
    const port = await listening(
      createNetServer((socket) => {
        socket.write('HTTP/1.1 200 OK\r\n')
        for (let n = 0; n < 1000; n++) socket.write(`X-${n}: ${'y'.repeat(100)}\r\n`)
      }),
    )
    await expect(aClient(loopback).send(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({
      kind: 'failed',
    })
  })

  it('explains connection errors', async () => {
    const reset = await listening(createNetServer((socket) => socket.resetAndDestroy()))
    const closed = await listening(createNetServer((socket) => socket.end()))
    const garbage = await listening(createNetServer((socket) => socket.end('SSH-2.0-OpenSSH\r\n')))
    const { send } = aClient(loopback)
    for (const port of [reset, closed]) {
      await expect(send(`http://127.0.0.1:${port}/`)).rejects.toThrow(/^The receiver (broke off|closed)/)
    }
    await expect(send(`http://127.0.0.1:${garbage}/`)).rejects.toMatchObject({ kind: 'failed' })
    await expect(send('http://127.0.0.1:1/')).rejects.toThrow('The receiver refused the connection.')
  })
})

describe('a receiver with a certificate', () => {
  it('is refused when the certificate is not trusted, unless the user disables verification', async () => {
    let hits = 0
    const port = await listening(
      createTlsServer({ key, cert }, (_, response) => {
        hits += 1
        response.end('ok')
      }),
    )
    const resolve: Resolve = async () => ['127.0.0.1']
    const { send } = aClient({ ...loopback, resolve })
    await expect(send(`https://hooks.example:${port}/`)).rejects.toThrow('certificate is self-signed')
    expect(hits).toBe(0)
    expect((await send(`https://hooks.example:${port}/`, { tlsVerify: false })).status).toBe(200)
    // The connection that was made without looking is not used by those who look.
    await expect(send(`https://hooks.example:${port}/`)).rejects.toThrow('certificate is self-signed')
    expect(hits).toBe(1)
  })
})
