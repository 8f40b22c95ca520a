// A request that should succeed, with its parts, so that spoil.ts can change them.
import type { Dice } from '../../dice.ts'
import type { Attempt, Mode, Scene } from './attempt.ts'
import { bodies } from './bodies.ts'
import type { Operation, Schema } from '../operations/operation.ts'
import { forms } from '../operations/other-operations.ts'
import { hostilePipeline, validPipeline } from './pipelines.ts'
import { specialBodies } from './special-bodies.ts'
import { pick, uuidOf, validValue } from './values.ts'
import { password, type Ids } from '../world/world.ts'

export class Draft {
  readonly dice: Dice
  readonly scene: Scene
  readonly attempt: Attempt
  readonly secrets: Record<string, string>
  /** The values of the placeholders in the path. */
  readonly places: Record<string, string>
  /** The body before it became bytes; undefined: it is no JSON. */
  value: unknown
  readonly #ids: Ids
  readonly #query: Array<[string, string]> = []

  constructor(dice: Dice, number: number, operation: Operation, mode: Mode, scene: Scene) {
    this.dice = dice
    this.scene = scene
    this.#ids = { ...scene.world.ids, ...scene.prepared.ids }
    this.secrets = { ...scene.world.secrets, password, ...scene.prepared.secrets }
    this.places = Object.fromEntries(
      [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => [name, this.#idFor(operation, name)]),
    )
    this.attempt = {
      number,
      operation,
      mode,
      method: operation.method,
      path: '',
      headers: { 'x-request-id': `fuzz.${number}`, ...this.#credentials(operation) },
      body: null,
      raw: null,
      changes: [],
      hasOwnIds: true,
    }
    this.#chooseQuery()
    this.#chooseBody()
    this.setPath()
  }

  setPath(): void {
    const query = this.#query.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&')
    const filled = this.attempt.operation.path.replace(/\{(\w+)\}/g, (_, name: string) =>
      encode(this.places[name] ?? ''),
    )
    this.attempt.path = query === '' ? filled : `${filled}?${query}`
  }

  setBody(value: unknown): void {
    this.value = value
    const { headers, operation } = this.attempt
    if (forms[operation.id] === undefined) {
      this.attempt.body = Buffer.from(JSON.stringify(value) ?? '')
      headers['content-type'] = 'application/json'
      return
    }
    const pairs = Object.entries(Object(value) as object).map(([key, item]): [string, string] => [
      key,
      typeof item === 'string' ? item : JSON.stringify(item),
    ])
    this.attempt.body = Buffer.from(new URLSearchParams(pairs).toString())
    headers['content-type'] = 'application/x-www-form-urlencoded'
  }

  #idFor(operation: Operation, name: string): string {
    if (name === 'build' && operation.surface === 'agent') return this.#ids['build_uuid'] ?? ''
    return this.#ids[name] ?? fixed[name] ?? 'none'
  }

  #credentials({ credential }: Operation): Record<string, string> {
    const { only_cookie: only, cookie, cookies, page_secret: pageSecret = '' } = this.secrets
    switch (credential) {
      case 'user':
        return only !== undefined || this.dice.happens(0.1)
          ? { cookie: `millrace_session=${only ?? cookie}`, 'x-millrace-page': pageSecret }
          : { authorization: `Bearer ${this.secrets['admin']}` }
      case 'suite':
        return { authorization: `Token token="${this.secrets['suite']}"` }
      case 'registration':
      case 'session':
      case 'job':
        return { authorization: `Token ${this.secrets[credential]}` }
      case 'cookie':
        return {
          cookie: cookies ?? `millrace_session=${cookie}`,
          'x-millrace-page': pageSecret,
          accept: 'text/html',
        }
      case 'none':
      case 'ticket':
        return {}
    }
  }

  #chooseQuery(): void {
    const { dice, scene } = this
    const { operation } = this.attempt
    for (const { name, schema } of operation.query) {
      const isWanted = needsQuery(operation, name, schema) || (!scene.isSure && dice.happens(0.35))
      if (!isWanted || cursorNames.has(name)) continue
      const [example]: unknown[] = (schema['examples'] as unknown[] | undefined) ?? []
      const known = example ?? querySense(dice, operation.path, name)
      const value = known ?? validValue(dice, schema, (field) => this.#sense(field), name.replace('[]', ''))
      this.#query.push(...this.#queryValues(name, value))
    }
    const { cursors } = scene.harvest
    if (cursors.length > 0 && !scene.isSure && dice.happens(0.3))
      this.#query.push(['after', pick(dice, cursors)])
  }

  #queryValues(name: string, value: unknown): Array<[string, string]> {
    if (Array.isArray(value)) return value.map((item) => [name, this.#fill(String(item))])
    if (typeof value === 'object' && value !== null)
      return Object.entries(value).map(([key, item]) => [`${name}[${key}]`, String(item)])
    return [[name, this.#fill(String(value))]]
  }

  #chooseBody(): void {
    const { dice } = this
    const { id, body, examples } = this.attempt.operation
    const fields = forms[id]
    if (fields !== undefined) {
      const filled = this.#fillAll(pick(dice, fields)) as object
      return this.setBody({ form_code: this.secrets['form_code'] ?? '', ...filled })
    }
    const special = specialBodies[id]?.(dice, this.#ids, this.secrets) ?? null
    if (special !== null) {
      if ('value' in special) this.setBody(special.value)
      else this.attempt.body = special.bytes
      Object.assign(this.attempt.headers, special.headers)
      return
    }
    const known = bodies.get(id) ?? examples
    const isKnown = known.length > 0 && (this.scene.isSure || body === null || dice.happens(0.7))
    if (isKnown) this.setBody(this.#fillAll(pick(dice, known)))
    else if (body !== null) this.setBody(validValue(dice, body, (field) => this.#sense(field)))
  }

  /** Values of fields by their meaning. */
  #sense(field: string): unknown {
    const { dice } = this
    const { world } = this.scene
    const id = meanings[field]
    if (id !== undefined) return this.#ids[id]
    switch (field) {
      case 'configuration':
        return dice.happens(0.6) ? validPipeline(dice) : hostilePipeline(dice)
      case 'name':
      case 'description':
      case 'label':
      case 'slug':
        return dice.happens(0.8) ? world.unique() : undefined
      case 'url':
      case 'api_url':
      case 'issuer':
        return `${world.remote}${pick(dice, ['', '/odd', '/hook'])}`
      case 'cronline':
        return pick(dice, ['@daily', '0 3 * * 1-5 Europe/Berlin', '*/5 * * * *', '@hourly'])
      case 'allowed_ip_addresses':
        return pick(dice, ['127.0.0.0/8 ::1', '0.0.0.0/0', null])
      case 'expires_at':
        return pick(dice, ['2040-01-01T00:00:00Z', null])
      case 'email':
        return `${world.unique()}@example.com`
      default:
        return undefined
    }
  }

  /** Replaces the markers that bodies.ts explains. */
  #fillAll(value: unknown): unknown {
    if (typeof value === 'string') return this.#fill(value)
    if (Array.isArray(value)) return value.map((item) => this.#fillAll(item))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [this.#fill(key), this.#fillAll(item)]),
    )
  }

  #fill(text: string): string {
    const { dice, scene } = this
    return text.replace(/\$(\$?)(\w+)/g, (whole, isSecret: string, name: string) => {
      if (isSecret === '$') return this.secrets[name] ?? whole
      switch (name) {
        case 'uuid':
          return uuidOf(dice)
        case 'unique':
          return scene.world.unique()
        case 'unique_key':
          return scene.world.unique().replaceAll('-', '_')
        case 'remote':
          return scene.world.remote
        case 'yaml':
          return scene.isSure || dice.happens(0.7) ? validPipeline(dice) : hostilePipeline(dice)
        default:
          return this.#ids[name] ?? whole
      }
    })
  }
}

export const encode = (text: string): string => encodeURIComponent(text.toWellFormed())

function needsQuery({ surface }: Operation, name: string, { examples }: Schema): boolean {
  if (neededQuery.has(name)) return true
  const isSecret = Array.isArray(examples) && String(examples[0]).startsWith('$$')
  return isSecret || (surface === 'agent' && !optionalQuery.has(name))
}

const fixed: Ids = { registry: '~', emoji: 'tada', context: 'default', provider: 'chat_workspace' }

/** Ids by the names of fields in bodies and queries. */
const meanings: Readonly<Record<string, string>> = {
  cluster_id: 'cluster',
  default_cluster_id: 'cluster',
  default_queue_id: 'queue',
  cluster_queue_id: 'queue',
  team_id: 'team',
  team: 'team',
  user: 'user',
  user_id: 'user',
  service_account_id: 'service_account',
  unblocker: 'user',
  creator: 'user',
  pipeline_id: 'pipeline_uuid',
  scope_uuid: 'pipeline_uuid',
  source_pipeline: 'pipeline',
  target_pipeline: 'target_pipeline',
  pipeline_template_uuid: 'template',
  organization_slug: 'org',
  job_uuid: 'job',
  build_id: 'build_uuid',
}

const neededQuery = new Set(['q', 'ticket', 'cronline', 'identifier'])
/** Only a link of an answer has a valid one. */
const cursorNames = new Set(['after', 'before'])

/** Every suite has a plan with it. */
const planIdentifier = 'fuzz/plan'

function querySense(dice: Dice, path: string, name: string): unknown {
  const plain = name.replace('[]', '')
  if (/_(from|to)$/.test(plain))
    return pick(dice, ['2020-01-02T03:04:05Z', '2030-01-02', '2026-01-02T03:04:05.678+02:00'])
  if (plain === 'q') return pick(dice, ['turn', 'fuzz', '.*', 'a b'])
  if (plain === 'ticket') return '$$file'
  if (plain === 'identifier') return planIdentifier
  if (plain === 'state' || plain === 'states' || plain === 'job_states') {
    if (path.includes('/artifacts')) return pick(dice, ['new', 'finished', 'deleted'])
    if (path.includes('/deliveries')) return pick(dice, ['pending', 'delivered', 'failed'])
    return pick(dice, [['failed'], ['running', 'passed'], ['scheduled']])
  }
  return undefined
}

const optionalQuery = new Set(['scope', 'state', 'include_retried_jobs', 'limit'])
