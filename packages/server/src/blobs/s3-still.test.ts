// A store that accepts requests and then stands still, on a real socket.
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { s3Store } from './s3.ts'

/** Sends `answer` to each request, and nothing more. */
async function aStillStore(answer: string) {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('data', () => socket.write(answer))
    socket.resume()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The server has no port.')
  const settings = {
    kind: 's3',
    bucket: 'bucket',
    prefix: '',
    region: 'auto',
    endpoint: `http://127.0.0.1:${address.port}`,
    direct: false,
  } as const
  const credentials = { accessKeyId: 'id', secretAccessKey: 'secret', sessionToken: undefined }
  return s3Store(settings, credentials, { stillMs: 500 })
}

const key = 'artifacts/a'
const isUnavailable = { status: 503 }

describe('a store that stands still', () => {
  it('fails every request instead of holding it for ever', async () => {
    const store = await aStillStore('')
    const body = Readable.from([Buffer.from('abc')])
    await expect(store.put(key, body, 3)).rejects.toMatchObject(isUnavailable)
    await expect(store.get(key)).rejects.toMatchObject(isUnavailable)
    await expect(store.head(key)).rejects.toMatchObject(isUnavailable)
    await expect(store.delete(key)).rejects.toMatchObject(isUnavailable)
    await expect(store.startParts(key)).rejects.toMatchObject(isUnavailable)
    await expect(store.completeParts(key, 'id', [])).rejects.toMatchObject(isUnavailable)
    await expect(store.abortParts(key, 'id')).rejects.toMatchObject(isUnavailable)
  })

  it('ends a download in the middle', async () => {
    const store = await aStillStore('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegun')
    const stream = await store.get(key)
    if (stream === null) throw new Error('It has the object.')
    await expect(buffer(stream)).rejects.toBeInstanceOf(Error)
  })

  it('ends an error whose text does not come', async () => {
    const store = await aStillStore('HTTP/1.1 404 Not Found\r\nContent-Length: 100\r\n\r\n<Error>')
    await expect(store.get(key)).rejects.toMatchObject(isUnavailable)
  })
})
