// A fake image registry over HTTP, with manifests and layers in repositories, and with a password.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Answer {
  status: number
  headers?: Record<string, string>
  content?: Buffer | string
}

export class TestRegistry {
  /** `user:password`; null: none is needed. */
  password: string | null = null
  /** Whether images can be deleted. */
  deletes = true
  /** Whether a layer can be mounted in a second repository. */
  mounts = true
  /** Whether requests hang. */
  hangs = false
  /** By `name@digest`. */
  readonly blobs = new Map<string, Buffer>()
  /** By `name@digest`. */
  readonly manifests = new Map<string, string>()
  /** Digests by `name:tag`. */
  readonly #tags = new Map<string, string>()
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

  layersOf(ref: string, digest: string): string[] {
    const { layers } = JSON.parse(this.manifests.get(`${nameOf(ref)}@${digest}`) ?? '{"layers":[]}') as {
      layers: Array<{ digest: string }>
    }
    return layers.map((layer) => layer.digest)
  }

  /** Adds an image of one layer with these contents, and returns its digest. */
  add(ref: string, layer: string): string {
    const [name, tag] = [nameOf(ref), ref.replace(/^.*:/, '')]
    const put = (text: string) => {
      this.blobs.set(`${name}@${digestOf(text)}`, Buffer.from(text))
      return { digest: digestOf(text), size: text.length }
    }
    const layers = [{ mediaType: 'application/vnd.docker.image.rootfs.diff.tar.gzip', ...put(layer) }]
    const config = put(
      JSON.stringify({ config: { Env: ['A=b'] }, rootfs: { diff_ids: [layers[0]?.digest] }, history: [{}] }),
    )
    return this.#putManifest(name, tag, Buffer.from(JSON.stringify({ schemaVersion: 2, config, layers })))
  }

  /** Adds an index of images, one for each architecture, and returns its digest. */
  putIndex(ref: string, manifests: Array<{ digest: string; platform: object }>): string {
    const index = JSON.stringify({ schemaVersion: 2, manifests })
    return this.#putManifest(nameOf(ref), ref.replace(/^.*:/, ''), Buffer.from(index))
  }

  #putManifest(name: string, tag: string, body: Buffer): string {
    this.manifests.set(`${name}@${digestOf(body)}`, body.toString('utf8'))
    this.#tags.set(`${name}:${tag}`, digestOf(body))
    return digestOf(body)
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.hangs) return
    const url = new URL(request.url ?? '', 'http://any')
    const wanted = `Basic ${Buffer.from(this.password ?? '').toString('base64')}`
    if (this.password !== null && request.headers.authorization !== wanted) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="test"' }).end()
      return
    }
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const { status, headers = {}, content } = this.#carryOut(request.method ?? '', url, Buffer.concat(pieces))
    response.writeHead(status, headers).end(content)
  }

  #carryOut(method: string, url: URL, body: Buffer): Answer {
    if (url.pathname === '/v2/') return { status: 200 }
    const [, name = '', kind = '', rest = ''] =
      /^\/v2\/(.+)\/(manifests|blobs(?:\/uploads)?)\/(.*)$/.exec(url.pathname) ?? []
    if (['GET', 'HEAD'].includes(method)) {
      const digest = this.#tags.get(`${name}:${rest}`) ?? rest
      const content = (kind === 'blobs' ? this.blobs : this.manifests).get(`${name}@${digest}`)
      const headers = { 'docker-content-digest': digest }
      return content === undefined ? { status: 404 } : { status: 200, headers, content }
    }
    if (kind === 'manifests' && method === 'DELETE') {
      if (!this.deletes) return { status: 405 }
      return { status: this.manifests.delete(`${name}@${rest}`) ? 202 : 404 }
    }
    if (kind === 'manifests' && method === 'PUT') {
      this.#putManifest(name, rest, body)
      return { status: 201 }
    }
    if (kind !== 'blobs/uploads') return { status: 404 }
    const mounted = url.searchParams.get('mount')
    const there = this.mounts ? this.blobs.get(`${url.searchParams.get('from')}@${mounted}`) : undefined
    if (there !== undefined) {
      this.blobs.set(`${name}@${mounted}`, there)
      return { status: 201 }
    }
    const id = rest || String(this.#uploads.size + 1)
    const sent = Buffer.concat([this.#uploads.get(id) ?? Buffer.alloc(0), body])
    this.#uploads.set(id, sent)
    const digest = url.searchParams.get('digest')
    if (digest === null)
      return { status: 202, headers: { location: `/v2/${name}/blobs/uploads/${id}?state=on` } }
    if (digest !== digestOf(sent)) return { status: 400 }
    this.blobs.set(`${name}@${digest}`, sent)
    return { status: 201 }
  }
}

export const digestOf = (bytes: Buffer | string): string =>
  `sha256:${createHash('sha256').update(bytes).digest('hex')}`

/** Without its host and tag. */
const nameOf = (ref: string) => ref.replace(/^[^/]+\//, '').replace(/:[^:/]*$/, '')
