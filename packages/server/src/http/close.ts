// Stops a server that has been listening, in this order: it says that it is not ready and asks clients to connect anew, while
// it still takes requests; it takes none any more; what is under way ends.
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

declare module 'fastify' {
  interface FastifyInstance {
    lifecycle: { isStopping: boolean }
  }
}

export interface Closer {
  /** Gives balancers that ask `/readyz` this time to send their requests elsewhere. */
  drain(ms: number): Promise<void>
  /** Cuts off whoever takes longer than the time given to `closer`. */
  close(): Promise<void>
}

/** A connection is opened for a request, which is then at most this far behind. */
const firstBytesMs = 1000

/** To be called before the server listens. */
export function closer(app: FastifyInstance, finishMs: number): Closer {
  const openedAt = new Map<Socket, number>()
  app.server.on('connection', (socket: Socket) => {
    openedAt.set(socket, performance.now())
    socket.on('close', () => openedAt.delete(socket))
  })
  return {
    async drain(ms) {
      app.lifecycle.isStopping = true
      await delay(ms)
    },
    async close() {
      app.lifecycle.isStopping = true
      // A connection kept alive becomes idle when its last answer ends, and then nobody closes it but us. One that a
      // client opened ahead of need never counts as idle.
      const sweeping = setInterval(() => {
        app.server.closeIdleConnections()
        const before = performance.now() - firstBytesMs
        for (const [socket, at] of openedAt) if (socket.bytesRead === 0 && at < before) socket.destroy()
      }, 50)
      const cutting = setTimeout(() => app.server.closeAllConnections(), finishMs)
      await app.close()
      clearInterval(sweeping)
      clearTimeout(cutting)
    },
  }
}
