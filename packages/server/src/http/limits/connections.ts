// Limits the connections of a process, below what the system gives it. Beyond the limit the connection is closed that has
// waited longest for a request, or for the end of a request's headers.
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** To be called before the server listens. */
export function limitConnections(app: FastifyInstance, most: number): void {
  let open = 0
  /** Without a request, in the order since when. */
  const idle = new Set<Socket>()
  const requests = new WeakMap<Socket, number>()
  app.server.on('connection', (socket: Socket) => {
    open++
    idle.add(socket)
    socket.on('close', () => {
      open--
      idle.delete(socket)
    })
    if (open <= most) return
    const [longest] = idle
    longest?.destroy()
  })
  app.server.on('request', ({ socket }, response) => {
    idle.delete(socket)
    requests.set(socket, (requests.get(socket) ?? 0) + 1)
    response.once('close', () => {
      const left = (requests.get(socket) ?? 1) - 1
      requests.set(socket, left)
      if (left === 0 && !socket.destroyed) idle.add(socket)
    })
  })
}
