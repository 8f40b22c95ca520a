// Stops a server that has been listening: no new requests, those in flight are finished.
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** To be called before it listens. What it returns closes the server, and cuts off whoever takes longer than that. */
export function closer(app: FastifyInstance, finishMs: number): () => Promise<void> {
  const connections = new Set<Socket>()
  app.server.on('connection', (socket: Socket) => {
    connections.add(socket)
    socket.on('close', () => connections.delete(socket))
  })
  return async () => {
    // A connection kept alive becomes idle when its last answer ends, and then nobody closes it but us. One that a
    // client opened ahead of need never counts as idle.
    const sweeping = setInterval(() => {
      app.server.closeIdleConnections()
      for (const socket of connections) if (socket.bytesRead === 0) socket.destroy()
    }, 50)
    const cutting = setTimeout(() => app.server.closeAllConnections(), finishMs)
    await app.close()
    clearInterval(sweeping)
    clearTimeout(cutting)
  }
}
