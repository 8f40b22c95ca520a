// A fake Kubernetes API server: the part of the HTTP API that a driver uses, with objects in memory and the statuses, conflicts
// and messages of the real one. It allows only what a role grants. cluster.ts plays the node, the storage and the
// controllers.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { ApiFailure, groups, Store, type Kinds, type KubeObject, type Plural } from './store.ts'

export interface Rule {
  apiGroups: string[]
  resources: string[]
  verbs: string[]
  resourceNames?: string[]
}

/** Called when objects are created, changed and deleted. */
export interface Controllers {
  created(plural: Plural, name: string): void
  deleted(plural: Plural, name: string, graceSeconds: number | null): void
  /** Returns the current state of the object. */
  read<P extends Plural>(plural: P, object: Kinds[P]): Promise<Kinds[P]>
  log(pod: string, container: string): Promise<LogLine[]>
}

export interface LogLine {
  at: number
  /** Unique, with nine decimal places. */
  time: string
  text: string
}

type Trouble = 'none' | 'not reached' | 'hangs' | 'cut off'

export class ApiServer {
  readonly store = new Store()
  readonly namespace: string
  /** `verb resource`, as roles say them, of every request that was allowed. */
  readonly used = new Set<string>()
  /** The number of connections so far. */
  connections = 0
  rules: Rule[] | null = null
  controllers: Controllers | null = null
  #trouble: Trouble = 'none'
  #passing = Infinity
  readonly #sockets = new Set<Socket>()
  readonly #server = createServer((request, response) => void this.#answer(request, response))

  constructor(namespace: string) {
    this.namespace = namespace
    this.#server.on('connection', (socket) => {
      this.connections += 1
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
      if (this.#trouble === 'not reached') socket.destroy()
    })
  }

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async stop(): Promise<void> {
    this.#dropAll()
    await new Promise((closed) => this.#server.close(closed))
  }

  /** Not reached: connections are closed. Hangs: there is no answer. Cut off: the request is done, and its answer is lost. */
  fail(trouble: Trouble, afterRequests = 0): void {
    this.#trouble = trouble
    this.#passing = afterRequests
    if (trouble === 'not reached' && afterRequests === 0) this.#dropAll()
  }

  #dropAll(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const isFailing = this.#trouble !== 'none' && this.#passing-- <= 0
    if (isFailing && this.#trouble === 'hangs') return
    if (isFailing && this.#trouble === 'not reached') return void request.socket.destroy()
    try {
      const body = await this.#carryOut(request)
      if (isFailing) return void request.socket.destroy()
      if (typeof body === 'string') response.setHeader('content-type', 'text/plain').end(body)
      else response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
    } catch (error) {
      const failure =
        error instanceof ApiFailure ? error : new ApiFailure(500, 'InternalError', String(error))
      const { code, reason, message, about } = failure
      response.statusCode = code
      response.setHeader('content-type', 'application/json')
      response.end(
        JSON.stringify({
          kind: 'Status',
          status: 'Failure',
          code,
          reason,
          message,
          ...(about && { details: about }),
        }),
      )
    }
  }

  async #carryOut(request: IncomingMessage): Promise<object | string> {
    const url = new URL(request.url ?? '', 'http://any')
    const { plural, name, part } = this.#place(url)
    const method = request.method ?? 'GET'
    const verb = verbOf(method, name)
    this.#authorize(verb, plural, name, part)
    if (part === 'log') return this.#log(name, url)
    const text = await readBody(request)
    const given = (text === '' ? {} : JSON.parse(text)) as KubeObject
    return this.#verbs(plural, name, url, request)[verb](given)
  }

  #verbs(plural: Plural, name: string, url: URL, request: IncomingMessage) {
    const { store, controllers } = this
    const now = async (object: KubeObject): Promise<object> =>
      (await controllers?.read(plural, object)) ?? object
    return {
      list: async () => {
        const items = store.list(plural).filter(selected(url.searchParams.get('labelSelector') ?? ''))
        return { metadata: { resourceVersion: '1' }, items: await Promise.all(items.map(now)) }
      },
      get: async () => now(store.get(plural, name)),
      create: async (given: KubeObject) => {
        const made = store.create(plural, given)
        controllers?.created(plural, made.metadata?.name ?? '')
        return made
      },
      update: async (given: KubeObject) => store.replace(plural, name, given),
      patch: async (given: KubeObject) => {
        if (request.headers['content-type'] !== 'application/merge-patch+json') {
          throw new ApiFailure(415, 'UnsupportedMediaType', 'the body must be a merge patch')
        }
        const { metadata } = store.get(plural, name)
        const labels = { ...metadata?.labels, ...given.metadata?.labels }
        store.update(plural, name, (object) => ({ ...object, metadata: { ...object.metadata, labels } }))
        return store.get(plural, name)
      },
      delete: async () => {
        const object = store.get(plural, name)
        const grace = url.searchParams.get('gracePeriodSeconds')
        controllers?.deleted(plural, name, grace === null ? null : Number(grace))
        return object
      },
    }
  }

  #place(url: URL): { plural: Plural; name: string; part: string } {
    const [, group = '', namespace, plural = '', name = '', part = ''] =
      /^\/(?:api\/v1|apis\/([^/]+)\/v1)\/namespaces\/([^/]+)\/([^/]+)(?:\/([^/]+))?(?:\/([^/]+))?$/.exec(
        url.pathname,
      ) ?? []
    if (!isPlural(plural) || groups[plural] !== group)
      throw new ApiFailure(404, 'NotFound', '404 page not found')
    if (namespace !== this.namespace) {
      const about = { kind: 'namespaces', name: namespace ?? '' }
      throw new ApiFailure(404, 'NotFound', `namespaces "${namespace}" not found`, about)
    }
    return { plural, name, part }
  }

  #authorize(verb: string, plural: Plural, name: string, part: string): void {
    const resource = part === '' ? plural : `${plural}/${part}`
    const isGranted = (rule: Rule) =>
      rule.apiGroups.includes(groups[plural]) &&
      rule.resources.includes(resource) &&
      rule.verbs.includes(verb) &&
      (rule.resourceNames === undefined || rule.resourceNames.includes(name))
    if (this.rules !== null && !this.rules.some(isGranted)) {
      const message = `${plural} is forbidden: User "millrace" cannot ${verb} resource "${resource}" in the namespace "${this.namespace}"`
      throw new ApiFailure(403, 'Forbidden', message, { kind: plural, name })
    }
    this.used.add(`${verb} ${resource}`)
  }

  async #log(pod: string, url: URL): Promise<string> {
    this.store.get('pods', pod)
    const { searchParams } = url
    const since = searchParams.get('sinceSeconds')
    const from = since === null ? 0 : Date.now() - Number(since) * 1000
    const lines = (await this.controllers?.log(pod, searchParams.get('container') ?? '')) ?? []
    const withTime = searchParams.get('timestamps') === 'true'
    return lines
      .filter(({ at }) => at >= from)
      .slice(-Number(searchParams.get('tailLines') ?? lines.length))
      .map(({ time, text }) => (withTime ? `${time} ${text}\n` : `${text}\n`))
      .join('')
  }
}

const isPlural = (text: string): text is Plural => text in groups

function verbOf(method: string, name: string): 'list' | 'get' | 'create' | 'update' | 'patch' | 'delete' {
  if (method === 'GET') return name === '' ? 'list' : 'get'
  if (method === 'POST') return 'create'
  if (method === 'PUT') return 'update'
  return method === 'PATCH' ? 'patch' : 'delete'
}

const selected = (selector: string) => {
  const wanted = selector.split(',').map((part) => part.split('='))
  return ({ metadata }: KubeObject) =>
    selector === '' || wanted.every(([key = '', value]) => metadata?.labels?.[key] === value)
}

async function readBody(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  return Buffer.concat(pieces).toString('utf8')
}
