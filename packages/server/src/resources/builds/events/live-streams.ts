// All streams of one server share one reader of the outbox and one query for each kind of resource, however many they are.
import { setImmediate, setTimeout as delay } from 'node:timers/promises'
import { hasScope } from '../../../auth/caller.ts'
import { hasFullAccess } from '../../../auth/pipeline-access.ts'
import type { Context } from '../../../context.ts'
import type { Membership } from '../../../http/route.ts'
import { unavailable } from '../../../lib/errors.ts'
import { groupBy } from '../../../lib/group-by.ts'
import type { Cursor } from './cursor.ts'
import * as events from './queries.ts'
import type { ShownResource, ResourceKind } from './queries.ts'
import { EventStream, usualLimits, type Limits, type Pending, type StreamRequest } from './stream.ts'

/** While nothing happens, the outbox is looked at this often. A NOTIFY with every commit would cost more. */
const idleMs = 50
/** Changes within this time become one message. */
const coalesceMs = 100
const retryMs = 1000
const mostInBatch = 20_000
const newMs = 60 * 60_000
const startsAtOnce = 16
const longestMs = 15

/** Scopes beyond that of the route. */
const scopeOf = { agent: 'read_agents', queue: 'read_clusters' } as const

const listOf = {
  build: events.listBuilds,
  job: events.listJobs,
  graph: events.listGraphs,
  agent: events.listAgents,
  queue: events.listQueues,
} as const satisfies Record<ResourceKind, unknown>

const kinds = Object.keys(listOf) as ResourceKind[]

const ofServer = new WeakMap<Context, LiveStreams>()

/** The streams of the server with this context. */
export function liveStreams(ctx: Context): LiveStreams {
  const known = ofServer.get(ctx)
  if (known !== undefined) return known
  const made = new LiveStreams(ctx)
  ofServer.set(ctx, made)
  return made
}

export class LiveStreams {
  private readonly ctx: Context
  private readonly limits: Limits
  /** Opened, but not at a known place of the outbox yet. */
  private readonly starting = new Set<EventStream>()
  private readonly streams = new Set<EventStream>()
  private cursor: Cursor | null = null
  private cursorReadAt = new Date(0)
  private running: Promise<void> | null = null
  private wake = new AbortController()
  private isStopped = false

  constructor(ctx: Context, limits: Limits = usualLimits) {
    this.ctx = ctx
    this.limits = limits
  }

  open(request: StreamRequest): EventStream {
    if (this.isStopped) throw unavailable('The server is stopping.')
    const stream = new EventStream(request, this.limits)
    this.starting.add(stream)
    this.wake.abort()
    this.running ??= this.run().finally(() => {
      this.running = null
    })
    return stream
  }

  /** Ends all streams. */
  async stop(): Promise<void> {
    this.isStopped = true
    for (const stream of [...this.starting, ...this.streams]) stream.end()
    this.wake.abort()
    await this.running
  }

  /** Until there are no streams. */
  private async run(): Promise<void> {
    for (;;) {
      this.drop()
      if (this.isStopped || this.starting.size + this.streams.size === 0) break
      const pauseMs = await this.step().catch((error: unknown) => {
        this.ctx.log.warn({ err: error }, 'Event streams could not be continued; trying again.')
        return retryMs
      })
      for (const stream of [...this.starting, ...this.streams]) stream.tick()
      this.wake = new AbortController()
      if (this.isStopped || (this.starting.size > 0 && pauseMs !== retryMs)) continue
      await delay(pauseMs, undefined, { signal: this.wake.signal }).catch(() => {})
    }
    this.cursor = null
  }

  private drop(): void {
    for (const set of [this.starting, this.streams])
      for (const stream of set) if (!stream.isOpen) set.delete(stream)
  }

  /** Returns the time until the next step. */
  private async step(): Promise<number> {
    // In this order: a stream begins behind the cursor, and the next batch covers its organization and builds.
    this.cursor ??= await events.currentCursor(this.ctx.db)
    await this.startStreams()
    await this.readBatch(this.cursor)
    const sent = await this.sendPending()
    return sent ? coalesceMs : idleMs
  }

  private async startStreams(): Promise<void> {
    const waiting = [...this.starting]
    for (let at = 0; at < waiting.length; at += startsAtOnce) {
      await Promise.all(waiting.slice(at, at + startsAtOnce).map((stream) => this.start(stream)))
    }
  }

  private async start(stream: EventStream): Promise<void> {
    const { after, organizationId, buildIds } = stream.request
    if (after === null) {
      stream.start(await events.currentCursor(this.ctx.db))
    } else {
      const scope = { organizationIds: [organizationId], buildIds }
      const { cursor, resources } = await events.listChanges(
        this.ctx.db,
        after,
        scope,
        this.limits.mostPending,
      )
      // A cursor from the future is one of another database, of which this one may be an older copy.
      if (resources === null || after.end > cursor.end) stream.reset()
      else for (const resource of resources) stream.note(resource)
      stream.start(cursor)
    }
    this.starting.delete(stream)
    this.streams.add(stream)
  }

  private async readBatch(from: Cursor): Promise<void> {
    const { db } = this.ctx
    if (!(await events.hasChanges(db, from))) return
    const now = this.ctx.now()
    const isNew = now.getTime() - this.cursorReadAt.getTime() < newMs
    const scope = { ...this.scope(), ...(isNew ? { around: now } : {}) }
    const { cursor, resources } = await events.listChanges(db, from, scope, mostInBatch)
    this.cursor = cursor
    this.cursorReadAt = now
    if (resources === null) for (const stream of this.streams) stream.reset()
    const ofOrganization = groupBy([...this.streams], ({ request }) => request.organizationId)
    let since = performance.now()
    for (const resource of resources ?? []) {
      for (const stream of ofOrganization.get(resource.organization_id) ?? []) stream.note(resource)
      since = await letOthersRun(since)
    }
    for (const stream of this.streams) stream.advance(cursor)
  }

  private scope(): events.Scope {
    const requests = [...this.streams].map(({ request }) => request)
    return {
      organizationIds: [...new Set(requests.map(({ organizationId }) => organizationId))],
      buildIds: [...new Set(requests.flatMap(({ buildIds }) => buildIds))],
    }
  }

  /** Whether there was anything to send. */
  private async sendPending(): Promise<boolean> {
    const ready = [...this.streams].filter((stream) => stream.isOpen && stream.isReady && stream.hasNews)
    if (ready.length === 0) return false
    const messages = ready.map((stream) => ({ stream, resources: stream.next() }))
    const shown = await this.show(messages)
    // Access is judged last, so that it is as new as what is shown.
    const admitted = await this.judge(ready)
    const readable = await this.listReadable(admitted, shown)
    let since = performance.now()
    for (const { stream, resources } of messages) {
      const access = admitted.get(stream)
      if (access === undefined) continue
      const entries = resources.flatMap(({ kind, id }) => {
        const resource = shown.get(`${kind} ${id}`)
        const json = resource === undefined ? null : visible(resource, kind, access, readable)
        return json === null ? [] : [{ kind, json }]
      })
      const lists = Object.fromEntries(
        kinds.map((kind) => [kind, entries.filter((entry) => entry.kind === kind).map(({ json }) => json)]),
      )
      stream.send(resources, lists)
      since = await letOthersRun(since)
    }
    return true
  }

  /** The present state of the resources, by kind and id. */
  private async show(
    messages: ReadonlyArray<{ stream: EventStream; resources: readonly Pending[] }>,
  ): Promise<Map<string, ShownResource>> {
    const organizationIds = [...new Set(messages.map(({ stream }) => stream.request.organizationId))]
    const idsOf = new Map(kinds.map((kind) => [kind, new Set<string>()]))
    for (const { resources } of messages) for (const { kind, id } of resources) idsOf.get(kind)?.add(id)
    const shown = new Map<string, ShownResource>()
    for (const [kind, ids] of idsOf) {
      if (ids.size === 0) continue
      for (const resource of await listOf[kind](this.ctx.db, [organizationIds, [...ids]]))
        shown.set(`${kind} ${resource.id}`, resource)
    }
    return shown
  }

  /** Ends the streams of callers whose access has ended. Streams with nothing to send are checked by http/limits/open-streams.ts. */
  private async judge(streams: readonly EventStream[]): Promise<Map<EventStream, Membership>> {
    const admitted = new Map<EventStream, Membership>()
    for (const stream of streams) {
      const access = await stream.request.reauthorize()
      if (access === null) stream.end()
      else admitted.set(stream, access)
    }
    return admitted
  }

  /** Pairs of user and pipeline, for the callers who may not read all pipelines. */
  private async listReadable(
    admitted: ReadonlyMap<EventStream, Membership>,
    shown: ReadonlyMap<string, ShownResource>,
  ): Promise<ReadonlySet<string>> {
    const limited = [...admitted].filter(([, { org }]) => org === null || !hasFullAccess(org))
    const pipelineIds = [...new Set([...shown.values()].flatMap(({ pipeline_id }) => pipeline_id ?? []))]
    if (limited.length === 0 || pipelineIds.length === 0) return new Set()
    const userIds = [...new Set(limited.map(([{ request }]) => request.userId))]
    const rows = await events.listReadable(this.ctx.db, userIds, pipelineIds)
    return new Set(rows.map(({ user_id, pipeline_id }) => `${user_id} ${pipeline_id}`))
  }
}

/** null: the caller may not see it. */
function visible(
  resource: ShownResource,
  kind: ResourceKind,
  { caller, org }: Membership,
  readable: ReadonlySet<string>,
): string | null {
  if (caller === null || org === null || resource.organization_id !== org.id) return null
  if ((kind === 'agent' || kind === 'queue') && !hasScope(caller, scopeOf[kind])) return null
  const { pipeline_id: pipelineId } = resource
  const mayRead = pipelineId === null || hasFullAccess(org) || readable.has(`${caller.user.id} ${pipelineId}`)
  return mayRead ? resource.json : resource.redacted
}

/** Returns when the caller's part of the event loop began. */
async function letOthersRun(since: number): Promise<number> {
  if (performance.now() - since < longestMs) return since
  await setImmediate()
  return performance.now()
}
