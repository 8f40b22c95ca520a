// A TCP proxy in front of PostgreSQL that can go silent: it keeps connections open but forwards nothing, like a network
// that drops packets.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface FaultProxy {
  /** The database through the proxy. */
  url: string
  /** Existing connections, and those opened before `resume`, forward nothing any more. */
  silence(): void
  /** New connections work again. */
  resume(): void
}

/** The host in `databaseUrl` is a directory of sockets. */
export async function startFaultProxy(databaseUrl: string): Promise<FaultProxy> {
  const target = new URL(databaseUrl.replace(/^postgresql:\/\/\//, 'postgresql://localhost/'))
  const { searchParams } = target
  const path = `${searchParams.get('host')}/.s.PGSQL.${searchParams.get('port')}`
  const sockets = new Set<Socket>()
  let isSilent = false
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  }
  const server = createServer((client) => {
    keep(client)
    if (isSilent) return void client.pause()
    const upstream = connect(path)
    keep(upstream)
    client.pipe(upstream)
    upstream.pipe(client)
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  searchParams.delete('host')
  searchParams.delete('port')
  target.hostname = '127.0.0.1'
  target.port = String((server.address() as AddressInfo).port)
  return {
    url: target.href,
    silence() {
      isSilent = true
      for (const socket of sockets) {
        socket.unpipe()
        socket.removeAllListeners('close')
        socket.removeAllListeners('data')
        socket.pause()
      }
    },
    resume() {
      isSilent = false
    },
  }
}
