import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A proxy in front of an engine's socket that can be closed or silent. */
export interface Gate {
  socketPath: string
  close(): Promise<void>
  open(): Promise<void>
  remove(): Promise<void>
  /** From now on requests are never answered. */
  hush(): void
  /** Closes the connection after so many more requests have been passed on, before their response. */
  cutAfter(requests: number): void
}

export async function startGate(target: string): Promise<Gate> {
  const directory = await mkdtemp(join(tmpdir(), 'mr-gate-'))
  const socketPath = join(directory, 'gate.sock')
  const sockets = new Set<Socket>()
  let isSilent = false
  let remaining = Infinity
  let server: Server | null = null
  const pass = (client: Socket) => {
    sockets.add(client)
    client.on('error', () => {})
    if (isSilent) return
    const upstream = connect(target)
    sockets.add(upstream)
    upstream.on('error', () => client.destroy())
    client.on('data', (piece: Buffer) => {
      upstream.write(piece)
      if (/^(GET|POST|PUT|DELETE|HEAD) /.test(piece.toString('latin1', 0, 8)) && remaining-- <= 0)
        client.destroy()
    })
    client.on('end', () => upstream.end())
    client.on('close', () => upstream.destroy())
    upstream.pipe(client)
  }
  const open = async () => {
    isSilent = false
    remaining = Infinity
    if (server !== null) return
    server = createServer(pass)
    server.listen(socketPath)
    await once(server, 'listening')
  }
  const close = async () => {
    for (const socket of sockets) socket.destroy()
    sockets.clear()
    const closing = server
    server = null
    if (closing !== null) await new Promise((closed) => closing.close(closed))
  }
  await open()
  return {
    socketPath,
    open,
    close,
    async remove() {
      await close()
      await rm(directory, { recursive: true, force: true })
    },
    hush() {
      isSilent = true
      for (const socket of sockets) socket.destroy()
    },
    cutAfter(requests) {
      remaining = requests
    },
  }
}
