// A TCP proxy that causes the faults of a network: its target can move, and it can reset or silence connections.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A port of this machine, or the path of a Unix socket. */
type Target = number | string

export interface TcpProxy {
  port: number
  /** Resets all connections. */
  cut(): void
  /** Existing connections, and those opened before `resume`, stay open and forward nothing any more, like a network that
   * drops packets. */
  silence(): void
  /** New connections work again. */
  resume(): void
  close(): Promise<void>
}

interface Link {
  client: Socket
  /** null: opened during a silence. */
  upstream: Socket | null
}

/** The target closes a silent connection after this time, as it does when keep-alive probes find no answer. */
const forgetMs = 20_000

/** `chooseTarget` is called for each connection; null resets it. */
export async function startTcpProxy(chooseTarget: () => Target | null): Promise<TcpProxy> {
  const links = new Set<Link>()
  let isSilent = false
  const server = createServer({ noDelay: true }, (client) => {
    client.on('error', () => {})
    const target = isSilent ? null : chooseTarget()
    if (target === null && !isSilent) return void client.resetAndDestroy()
    const link: Link = { client, upstream: target === null ? null : connectTo(target) }
    links.add(link)
    if (link.upstream === null) client.pause()
    else join(client, link.upstream, () => links.delete(link))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socketsOf = ({ client, upstream }: Link) => (upstream === null ? [client] : [client, upstream])
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      for (const { client, upstream } of links) {
        client.resetAndDestroy()
        upstream?.destroy()
      }
      links.clear()
    },
    silence() {
      isSilent = true
      for (const link of links) socketsOf(link).forEach(mute)
      const upstreams = [...links].flatMap(({ upstream }) => upstream ?? [])
      setTimeout(() => upstreams.forEach((socket) => socket.destroy()), forgetMs).unref()
    },
    resume() {
      isSilent = false
    },
    async close() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of [...links].flatMap(socketsOf)) socket.destroy()
      await closed
    },
  }
}

const connectTo = (target: Target): Socket =>
  typeof target === 'string' ? connect(target) : connect({ port: target, host: '127.0.0.1', noDelay: true })

function join(client: Socket, upstream: Socket, onClosed: () => void): void {
  upstream.on('error', () => client.resetAndDestroy())
  client.pipe(upstream)
  upstream.pipe(client)
  client.on('close', () => upstream.destroy())
  upstream.on('close', () => {
    client.destroy()
    onClosed()
  })
}

function mute(socket: Socket): void {
  socket.unpipe()
  socket.removeAllListeners('close')
  socket.removeAllListeners('data')
  socket.pause()
}
