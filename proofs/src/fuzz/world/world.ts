// An organization with rows of every kind, made through the APIs. What requests destroy is made again, so that later requests
// still reach deep code. Ids are stored by the name of the URL placeholder.
import { flushTokenCaches } from '@millrace/server/auth/access-watch.ts'
import { features } from '@millrace/server/auth/features.ts'
import { hashPassword } from '@millrace/server/auth/passwords.ts'
import { scopes as allScopes, type Scope } from '@millrace/server/auth/scopes.ts'
import { openSession } from '@millrace/server/auth/sessions.ts'
import type { Context } from '@millrace/server/context.ts'
import type { Db } from '@millrace/server/db/pool.ts'
import { hashToken } from '@millrace/server/lib/ids.ts'
import { createAccessToken } from '@millrace/server/resources/people/access-token/create.ts'
import { revokeAccessToken } from '@millrace/server/resources/people/access-token/revoke.ts'
import { createMember } from '@millrace/server/resources/people/members/create.ts'
import { createOrganization } from '@millrace/server/resources/people/organizations/create.ts'
import { enableFeature } from '@millrace/server/resources/people/organizations/enable-feature.ts'
import type { Client, Received, Sent } from '../client.ts'

const operator = { kind: 'operator', command: 'fuzz' } as const

export type Ids = Record<string, string>

/** An answer of the server that a maker did not expect. */
class Refused extends Error {
  readonly status: number
  constructor(call: string, status: number, text: string) {
    super(`${call}: ${status} ${text.slice(0, 300)}`)
    this.status = status
  }
}

/** The fields of answers that makers read. */
export interface Json {
  id?: string
  uuid?: string
  slug?: string
  number?: number
  url?: string
  address?: string
  token?: string
  access_token?: string
  api_token?: string
  accept_url?: string
  badge_url?: string
  run_id?: string
  upload_id?: string
  artifact_ids?: string[]
  provider?: { webhook_url?: string }
  job?: { id: string }
  jobs?: Json[]
  items?: Json[]
}

export interface Maker {
  /** Made before it; a new one of these needs a new one of this. */
  parents: readonly string[]
  make(world: World): Promise<void>
}

/** By the name of the id, in an order in which every row finds its parents. */
export type Makers = Readonly<Record<string, Maker>>

/** As the server archives builds. */
type Store = Pick<Context, 'db' | 'blobs' | 'config'>

interface Given {
  client: Client
  db: Db
  /** In all names of the organization. */
  marker: string
  remote: string
  makers: Makers
  store: Store
}

interface User {
  id: string
  email: string
  token: string
}

/** After so many requests to a row a new one is made, because rows fill up and their states come to an end. */
const mostUses = 60

export const password = 'correct horse battery staple'

const passwordHash = hashPassword(password)

export class World {
  readonly ids: Ids = {}
  /** Tokens, cookies and tickets by their kind. */
  readonly secrets: Record<string, string> = {}
  readonly #client: Client
  readonly db: Db
  readonly store: Store
  /** The address of a server that answers anything to anybody. */
  readonly remote: string
  readonly #marker: string
  readonly #makers: Makers
  readonly #uses = new Map<string, number>()
  readonly #madeAt = new Map<string, number>()
  #renewals: Promise<void> = Promise.resolve()
  #keeper: User = { id: '', email: '', token: '' }
  #count = 0

  private constructor({ client, db, marker, remote, makers, store }: Given) {
    this.store = store
    this.#client = client
    this.db = db
    this.#marker = marker
    this.remote = remote
    this.#makers = makers
  }

  static async create(given: Given, privateKey: string): Promise<World> {
    const world = new World(given)
    world.secrets['private_key'] = privateKey
    await world.#begin()
    for (const name of Object.keys(given.makers)) await world.renew(name)
    return world
  }

  id(name: string): string {
    return this.ids[name] ?? ''
  }

  secret(name: string): string {
    return this.secrets[name] ?? ''
  }

  /** A name that was not used before. */
  unique(): string {
    return `${this.#marker}-${++this.#count}`
  }

  /** Makes new rows for those that were used often. */
  async use(names: readonly string[]): Promise<void> {
    for (const name of names) {
      const uses = (this.#uses.get(name) ?? 0) + 1
      this.#uses.set(name, uses)
      if (uses > mostUses) await this.renew(name)
    }
  }

  /** Makes a new row and its children, one renewal after the other. A row that is younger than `since` stays. */
  renew(name: string, since = performance.now()): Promise<void> {
    const renewal = this.#renewals.then(async () => {
      if ((this.#madeAt.get(name) ?? -1) < since) await this.#make(name)
    })
    this.#renewals = renewal.catch(() => {})
    return renewal
  }

  async #make(name: string): Promise<void> {
    const maker = this.#makers[name]
    if (maker === undefined) return
    try {
      await maker.make(this)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      await this.restoreAccess()
      for (const parent of maker.parents) await this.#makers[parent]?.make(this)
      await maker.make(this)
    }
    this.#uses.set(name, 0)
    this.#madeAt.set(name, performance.now())
    for (const [child, { parents }] of Object.entries(this.#makers)) {
      if (parents.includes(name) && this.#madeAt.has(child)) await this.#make(child)
    }
  }

  async #begin(): Promise<void> {
    const slug = this.#marker
    const { id } = await createOrganization(this.db, operator, { slug, name: slug })
    this.ids['org'] = slug
    this.ids['org_uuid'] = id
    for (const feature of features) await enableFeature(this.db, operator, slug, feature)
    this.#keeper = await this.person('admin')
    await this.call('POST', '/teams/enable', {})
    await this.#newTokens()
  }

  async #newTokens(): Promise<void> {
    const { secrets } = this
    const member = await this.person('member')
    const expired = await this.person('admin')
    Object.assign(secrets, {
      member: member.token,
      reader: await this.token(this.#keeper, { scopes: ['read_pipelines', 'read_builds', 'read_user'] }),
      expired: await this.token(expired, { expiresAt: '2020-01-01T00:00:00Z' }),
      revoked: await this.token(this.#keeper),
    })
    const found = await this.db
      .selectFrom('api_access_tokens')
      .select('id')
      .where('token_hash', '=', hashToken(secrets['revoked'] ?? ''))
      .executeTakeFirstOrThrow()
    await revokeAccessToken(this.db, operator, found.id)
  }

  async person(role: 'admin' | 'member'): Promise<User> {
    const email = `${this.unique()}@example.com`
    const user = await createMember(this.db, operator, {
      email,
      name: this.unique(),
      organizationSlug: this.ids['org'] ?? '',
      role,
      passwordHash: await passwordHash,
    })
    return { id: user.id, email, token: await this.token({ email }) }
  }

  async token(
    { email }: { email: string },
    given: { scopes?: readonly Scope[]; expiresAt?: string } = {},
  ): Promise<string> {
    const { token } = await createAccessToken(this.db, operator, {
      email,
      scopes: given.scopes ?? allScopes,
      organizationSlugs: [],
      description: this.#marker,
      expiresAt: given.expiresAt ?? null,
      allowedIpAddresses: null,
    })
    return token
  }

  /** The id of a token that the person has given to a program. */
  async program(email: string): Promise<string> {
    const { id } = await createAccessToken(this.db, operator, {
      email,
      scopes: ['read_builds'],
      organizationSlugs: [],
      description: this.#marker,
      program: this.#marker,
      expiresAt: null,
      allowedIpAddresses: null,
    })
    return id
  }

  async session(
    userId: string,
    how: 'password' | 'link' = 'password',
  ): Promise<{ id: string; value: string; pageSecret: string }> {
    const { value, pageSecret } = await openSession(this.db, {
      userId,
      how,
      ip: '127.0.0.1',
      userAgent: null,
      now: new Date(),
    })
    const { id } = await this.db
      .selectFrom('web_sessions')
      .select('id')
      .where('token_hash', '=', hashToken(value))
      .executeTakeFirstOrThrow()
    return { id, value, pageSecret }
  }

  /** Undoes settings that lock everybody out. */
  async restoreAccess(): Promise<void> {
    const { changed } = await this.db
      .updateTable('organizations')
      .set({
        allowed_ip_addresses: null,
        revoke_inactive_tokens_after_days: null,
        restrict_user_api_token_creation: false,
      })
      .where('id', '=', this.id('org_uuid'))
      .executeTakeFirst()
      .then(({ numUpdatedRows }) => ({ changed: numUpdatedRows }))
    await this.db
      .updateTable('organization_sso')
      .set({ is_required: false })
      .where('organization_id', '=', this.id('org_uuid'))
      .execute()
    if (changed > 0n) await flushTokenCaches(this.db)
  }

  /** As the keeper, below the organization. */
  async call(method: string, path: string, body?: unknown): Promise<Json> {
    const url = path.startsWith('/v') ? path : `/v2/organizations/${this.ids['org']}${path}`
    return this.#ask(method, url, `Bearer ${this.#keeper.token}`, body)
  }

  /** As the administrator whose token the requests have. */
  asAdmin(method: string, path: string, body?: unknown): Promise<Json> {
    return this.#ask(method, path, `Bearer ${this.secrets['admin']}`, body)
  }

  /** To the agent API. */
  agent(method: string, path: string, token: string, body?: unknown): Promise<Json> {
    return this.#ask(method, `/v3/${path}`, `Token ${token}`, body)
  }

  async #ask(method: string, path: string, authorization: string, body?: unknown): Promise<Json> {
    const isBytes = Buffer.isBuffer(body)
    const payload = body === undefined ? null : isBytes ? body : Buffer.from(JSON.stringify(body))
    const answer = await this.#client.send({
      method,
      path,
      headers: {
        authorization,
        'x-request-id': `world.${this.#marker}`,
        ...(payload === null ? {} : { 'content-type': isBytes ? 'text/plain' : 'application/json' }),
        ...(isBytes ? { 'content-encoding': 'gzip' } : {}),
      },
      body: payload,
    })
    if ('failure' in answer) throw new Error(`${method} ${path}: ${answer.failure}`)
    if (answer.status >= 400) throw new Refused(`${method} ${path}`, answer.status, answer.text)
    return (answer.text === '' ? {} : JSON.parse(answer.text)) as Json
  }

  /** As a test collector. */
  sendTests(body: unknown): Promise<Json> {
    return this.#ask('POST', '/v1/uploads', `Token token="${this.secret('suite')}"`, body)
  }

  /** As a browser, with cookies such as `name=value`. */
  async visit(method: string, path: string, cookies: string, more: Partial<Sent> = {}): Promise<Received> {
    const answer = await this.#client.send({
      method,
      path,
      body: null,
      ...more,
      headers: { ...(cookies === '' ? {} : { cookie: cookies }), ...more.headers },
    })
    if ('failure' in answer) throw new Error(`${method} ${path}: ${answer.failure}`)
    if (answer.status >= 400) throw new Refused(`${method} ${path}`, answer.status, answer.text)
    return answer
  }
}
