// Sends the requests, judges their answers, and makes again what they destroy.
import type { World } from './world/world.ts'
import { diceOf, modeOf, type Attempt, type Harvest, type Scene } from './requests/attempt.ts'
import type { Client, Failure, Received } from './client.ts'
import { Coverage } from './coverage.ts'
import { curlOf } from './requests/curl.ts'
import { Draft } from './requests/draft.ts'
import type { Operation } from './operations/operation.ts'
import { ruin, spoil } from './requests/spoil.ts'
import { states, type Prepared } from './world/states.ts'
import type { Judge } from './verdict.ts'

export interface Plan {
  seed: number
  requests: number
  /** The number of the first request. */
  first: number
  /** Requests at the same time. */
  concurrency: number
  /** Part of the names of the operations to call; null: all. */
  only: string | null
  /** The server stays up after the last request, until the process is stopped. */
  keep: boolean
}

export interface Finding {
  /** null: it belongs to no single request. */
  number: number | null
  operation: string
  problem: string
  changes: string[]
  curl: string
}

interface Parts {
  operations: readonly Operation[]
  client: Client
  worlds: readonly World[]
  theirs: World
  judge: Judge
}

export class Run {
  readonly findings: Finding[] = []
  readonly coverage = new Coverage()
  /** Requests that make rows of a world and failed, by their reason. */
  readonly failures = new Map<string, number>()
  readonly #plan: Plan
  readonly #parts: Parts
  readonly #sent = new Map<number, Attempt>()
  /** By the id of the operation. */
  readonly #harvests = new Map<string, Harvest>()
  #next: number
  #say: (line: string) => void = () => {}

  constructor(plan: Plan, parts: Parts) {
    this.#plan = plan
    this.#parts = parts
    this.#next = plan.first
  }

  async send(say: (line: string) => void, stop: AbortSignal): Promise<void> {
    this.#say = say
    stop.addEventListener('abort', () => {
      this.#next = Infinity
    })
    const started = Date.now()
    const telling = setInterval(() => {
      const seconds = Math.round((Date.now() - started) / 1000)
      say(`${this.coverage.requests} requests in ${seconds} s, ${this.findings.length} findings.`)
    }, 15_000)
    await Promise.all(Array.from({ length: this.#plan.concurrency }, () => this.#sendInTurn()))
    clearInterval(telling)
  }

  async #sendInTurn(): Promise<void> {
    const end = this.#plan.first + this.#plan.requests
    while (this.#next < end) await this.#one(this.#next++)
  }

  async #one(number: number): Promise<void> {
    const { operations, worlds, theirs, client, judge } = this.#parts
    const operation = operations[number % operations.length]
    const world = worlds[number % worlds.length]
    if (operation === undefined || world === undefined) return
    const since = performance.now()
    const dice = diceOf(this.#plan.seed, number)
    const isFirst = number < operations.length
    const mode = modeOf(dice, isFirst)
    const prepared = await this.#prepare(operation, world, mode === 'valid' || dice.happens(0.3))
    const harvest = this.#harvestOf(operation)
    const scene: Scene = { world, theirs, prepared, harvest, isSure: isFirst || dice.happens(0.1) }
    const draft = new Draft(dice, number, operation, mode, scene)
    if (mode === 'near') for (let i = dice.between(1, 3); i > 0; i--) spoil(draft)
    if (mode === 'wild') ruin(draft)
    const { attempt } = draft
    const answer = attempt.raw === null ? await client.send(attempt) : await client.sendRaw(attempt.raw)
    this.coverage.count(attempt, answer)
    for (const problem of judge.judge(attempt, answer)) this.#find(attempt, problem)
    this.#remember(attempt)
    reap(harvest, answer)
    await this.#trying(() => this.#mend(world, attempt, answer, prepared, since))
  }

  #harvestOf({ id }: Operation): Harvest {
    const harvest = this.#harvests.get(id) ?? { cursors: [], etags: [] }
    this.#harvests.set(id, harvest)
    return harvest
  }

  /** The requests whose lines may still be missing in the log. */
  #remember(attempt: Attempt): void {
    this.#sent.set(attempt.number, attempt)
    this.#sent.delete(attempt.number - 20_000)
  }

  attemptOf(number: number): Attempt | undefined {
    return this.#sent.get(number)
  }

  async #prepare(operation: Operation, world: World, isWanted: boolean): Promise<Prepared> {
    const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
    await this.#trying(() => world.use([...names, operation.credential]))
    const state = states.get(operation.id)
    if (state === undefined || !isWanted) return {}
    const prepared = await this.#trying(() => state(world))
    if (prepared !== null) return prepared
    // Another request has just deleted what the state needs.
    for (const name of ['cluster', ...names]) await this.#trying(() => world.renew(name))
    return (await this.#trying(() => state(world))) ?? {}
  }

  /** null: it failed, and is counted. */
  async #trying<T>(work: () => Promise<T>): Promise<T | null> {
    try {
      return await work()
    } catch (error) {
      const reason = String(error)
        .replace(/\b[\w-]*\d[\w-]*\b/g, '…')
        .slice(0, 160)
      this.failures.set(reason, (this.failures.get(reason) ?? 0) + 1)
      return null
    }
  }

  /** Makes again what the request has destroyed, or what it did not find. */
  async #mend(
    world: World,
    attempt: Attempt,
    answer: Received | Failure | null,
    { ids = {} }: Prepared,
    since: number,
  ): Promise<void> {
    if (answer === null || 'failure' in answer) return
    const { operation, hasOwnIds } = attempt
    const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
    const last = names.at(-1) ?? ''
    if (answer.status < 300 && /\/(api-settings|sso)$/.test(operation.path)) await world.restoreAccess()
    if (answer.status < 300 && operation.method === 'DELETE' && ids[last] === undefined)
      await world.renew(last)
    if (answer.status < 300 && destroyed.has(operation.id))
      await world.renew(destroyed.get(operation.id) ?? '')
    if (!hasOwnIds) return
    if (answer.status === 404) await world.renew(missingIn(answer.text) ?? last, since)
    if ((answer.status === 401 || answer.status === 403) && attempt.mode === 'valid') {
      await world.restoreAccess()
      await world.renew(credentialMaker[operation.credential] ?? 'admin', since)
    }
  }

  #find(attempt: Attempt, problem: string): void {
    this.#say(`Number ${attempt.number}, ${attempt.operation.id}: ${problem}`)
    this.findings.push({
      number: attempt.number,
      operation: attempt.operation.id,
      problem,
      changes: attempt.changes,
      curl: curlOf(this.#parts.client.address, attempt),
    })
  }
}

/** Operations after which a row is not what it was, and the row. */
const destroyed = new Map([
  ['PUT /v2/organizations/{org}/members/{user}', 'user'],
  ['PATCH /v2/organizations/{org}/members/{user}', 'user'],
  ['PUT /v2/user/password', 'admin'],
  ['DELETE /v2/user/sessions', 'admin'],
  ['POST /v3/jobs/{job}/pipelines', 'build'],
  ['POST /v2/organizations/{org}/suites/{suite}/rotate_token', 'suite'],
  ['POST /v2/analytics/organizations/{org}/suites/{suite}/rotate_token', 'suite'],
])

const credentialMaker: Readonly<Record<string, string>> = {
  user: 'admin',
  cookie: 'admin',
  registration: 'cluster',
  session: 'build',
  job: 'build',
  suite: 'suite',
}

/** `No agent image found` to `image`. */
function missingIn(text: string): string | undefined {
  const noun = /No ([a-z ]+) found/.exec(text)?.[1]?.replaceAll(' ', '_')
  return noun === undefined ? undefined : (missing[noun] ?? noun)
}

const missing: Readonly<Record<string, string>> = {
  agent_image: 'image',
  member: 'user',
  pipeline_upload: 'upload',
  step_upload: 'upload',
  agent: 'build',
  job: 'build',
  step: 'build',
  test: 'test_run',
  run: 'test_run',
}

const mostReaped = 5

/** Keeps the newest cursors and tags. */
function reap({ cursors, etags }: Harvest, answer: Received | Failure | null): void {
  if (answer === null || 'failure' in answer) return
  for (const [, cursor = ''] of String(answer.headers['link'] ?? '').matchAll(
    /[?&](?:after|before)=([^&>]+)/g,
  ))
    cursors.push(decodeURIComponent(cursor))
  const { etag } = answer.headers
  if (typeof etag === 'string') etags.push(etag)
  cursors.splice(0, cursors.length - mostReaped)
  etags.splice(0, etags.length - mostReaped)
}
