// A stand-in for an image registry: which manifests it has, and uploads over HTTP for those who have the password.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export class TestRegistry {
  /** `user:password`; null: everybody may. */
  password: string | null = null
  /** Whether images can be deleted. */
  deletes = true
  readonly blobs = new Map<string, Buffer>()
  /** By `name@digest`; those that the builder pushed have no text. */
  readonly manifests = new Map<string, string>()
  readonly #uploads = new Map<string, Buffer>()
  readonly #server = createServer((request, response) => void this.#answer(request, response))

  /** Returns its host. */
  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((closed) => this.#server.close(closed))
  }

  has(ref: string, digest: string): boolean {
    return this.manifests.has(`${nameOf(ref)}@${digest}`)
  }

  add(ref: string, digest: string): void {
    this.manifests.set(`${nameOf(ref)}@${digest}`, '')
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', 'http://any')
    const wanted = `Basic ${Buffer.from(this.password ?? '').toString('base64')}`
    if (this.password !== null && request.headers.authorization !== wanted) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="test"' }).end()
      return
    }
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const { status, headers = {} } = this.#carryOut(request.method ?? '', url, Buffer.concat(pieces))
    response.writeHead(status, headers).end()
  }

  #carryOut(method: string, url: URL, body: Buffer): { status: number; headers?: Record<string, string> } {
    if (url.pathname === '/v2/') return { status: 200 }
    const [, name = '', kind = '', rest = ''] =
      /^\/v2\/(.+)\/(manifests|blobs\/uploads)\/(.*)$/.exec(url.pathname) ?? []
    if (kind === 'manifests' && method === 'DELETE') {
      if (!this.deletes) return { status: 405 }
      return { status: this.manifests.delete(`${name}@${rest}`) ? 202 : 404 }
    }
    if (kind === 'manifests' && method === 'PUT') {
      this.manifests.set(`${name}@${digestOf(body)}`, body.toString('utf8'))
      return { status: 201 }
    }
    if (kind !== 'blobs/uploads') return { status: 404 }
    const id = rest || String(this.#uploads.size + 1)
    const sent = Buffer.concat([this.#uploads.get(id) ?? Buffer.alloc(0), body])
    this.#uploads.set(id, sent)
    const digest = url.searchParams.get('digest')
    if (digest === null)
      return { status: 202, headers: { location: `/v2/${name}/blobs/uploads/${id}?state=on` } }
    if (digest !== digestOf(sent)) return { status: 400 }
    this.blobs.set(digest, sent)
    return { status: 201 }
  }
}

const digestOf = (bytes: Buffer) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

/** Without its host and tag. */
const nameOf = (ref: string) => ref.replace(/^[^/]+\//, '').replace(/:[^:/]*$/, '')
