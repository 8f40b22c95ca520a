import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { exchange } from './exchange.ts'

it('repeats a request on a new connection when the server has closed the idle ones', async () => {
  const known = new Set<Socket>()
  const server = createServer((request, response) => {
    if (known.has(request.socket)) request.socket.destroy()
    else response.end(`connection ${known.add(request.socket).size}`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  const ask = () => exchange({ method: 'POST', url, headers: {}, body: Buffer.from('x'), wait: {} })
  // Two connections become idle, and both are closed when they are used again.
  await Promise.all([ask(), ask()])
  expect((await ask()).body.toString()).toBe('connection 3')
})
