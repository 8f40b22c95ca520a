// Stops a listening server in this order: it reports that it is not ready and asks clients to reconnect while it still
// takes requests; it stops taking requests; requests in flight finish.
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

declare module 'fastify' {
  interface FastifyInstance {
    lifecycle: { isStopping: boolean }
  }
}

export interface Closer {
  /** Gives load balancers that poll `/readyz` time to send requests to other servers. */
  drain(ms: number): Promise<void>
  /** Closes connections whose requests take longer than the time given to `closer`. */
  close(): Promise<void>
}

/** A client that opens a connection for a request sends it within this time. */
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
      // A kept-alive connection becomes idle after its last response, and Node does not close it then. A connection
      // that a client opened in advance never counts as idle.
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
