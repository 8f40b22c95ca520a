// Decides which hosted agents should exist: one for each runnable job of a hosted queue, up to the capacity, and a few warm
// ones. It only writes rows; start.ts and stop.ts act on them. One replica plans at a time.
import { sql } from 'kysely'
import type { HostedSettings } from '../config/hosted.ts'
import { assignJob } from '../conductor/dispatch/assign.ts'
import { wakeAgent } from '../conductor/dispatch/wake.ts'
import type { Context } from '../context.ts'
import { eachRowApart } from '../db/each-row.ts'
import type { Trx } from '../db/pool.ts'
import { inTransaction } from '../db/transaction.ts'
import { newId } from '../lib/ids.ts'
import * as volumes from '../resources/clusters/cache_volumes/queries.ts'
import { failJob, type UnrunnableJob } from './fail-job.ts'
import { useMirror } from './mirrors.ts'
import * as hosted from './queries.ts'
import {
  listRunnable,
  loadImages,
  loadIdle,
  loadWarmQueues,
  type IdleAgent,
  type RunnableJob,
  type WarmQueue,
} from './plan-queries.ts'
import {
  cacheTag,
  chooseImage,
  containerCacheMb,
  containerCacheTag,
  matchesHosted,
  readRunnableShape,
  type ImagesOfCluster,
} from './rules.ts'
import { hostedTokenHash } from './token.ts'

/** The longest time a job of a hosted queue may run. */
const mostMinutes = 8 * 60

const warmMinutes = 60

/** How long a job waits for the cache of another job to be saved. */
const savingSeconds = 30

export async function planAgents(ctx: Context): Promise<void> {
  const { hosted: settings } = ctx.config
  if (settings === null) return
  const unrunnable = await inTransaction(ctx.db, async (trx) => {
    const { rows } = await sql<{ isFirst: boolean }>`
      select pg_try_advisory_xact_lock(hashtext('millrace hosted agents')) as "isFirst"`.execute(trx)
    if (rows[0]?.isFirst !== true) return []
    await offerWaitingJobs(trx, ctx)
    return new Planning(trx, ctx, settings).run()
  })
  await eachRowApart(
    ctx,
    'hosted_jobs_refused',
    unrunnable,
    ({ id }) => id,
    (job) => failJob(ctx, job),
  )
}

/** Offers jobs to the agents started for them, if that failed when the agents registered. */
async function offerWaitingJobs(trx: Trx, ctx: Context): Promise<void> {
  const { rows } = await sql<{ id: string; jobId: string; agentId: string }>`
    select h.id, h.job_id as "jobId", h.agent_id as "agentId" from hosted_agents h
    join agents a on a.id = h.agent_id join jobs j on j.id = h.job_id
    where h.state in ('starting', 'running') and a.connection_state = 'connected' and j.state = 'scheduled'
    for update of h skip locked`.execute(trx)
  await eachRowApart(
    { ...ctx, db: trx },
    'hosted_jobs_waiting',
    rows,
    ({ id }) => id,
    (pair) => offerJob(trx, ctx, pair),
  )
}

/** False: the agent did not get the job. */
export async function offerJob(
  trx: Trx,
  ctx: Context,
  { id, jobId, agentId }: { id: string; jobId: string; agentId: string },
): Promise<boolean> {
  if (!(await assignJob(trx, ctx, { jobId, agentId, mostMinutes }))) return false
  const now = ctx.now().getTime()
  await sql`
    update hosted_agents set job_id = ${jobId}, assigned_at = ${new Date(now).toISOString()},
      state = case state when 'warm' then 'running' else state end,
      ends_at = ${inMinutes(now, mostMinutes + 10)}
    where id = ${id}`.execute(trx)
  await useMirror(trx, ctx, jobId)
  await wakeAgent(trx, agentId)
  return true
}

type WantedVolume = Pick<volumes.OwnVolume, 'tag' | 'purpose' | 'requested_mb'>

function volumesOf({ pipeline_id, pipeline_slug, cache, container_cache }: RunnableJob): WantedVolume[] {
  const wanted: WantedVolume[] = []
  if (cache) {
    const tag = cacheTag(pipeline_id, cache.name ?? pipeline_slug)
    wanted.push({ tag, purpose: 'cache', requested_mb: cache.sizeGb * 1024 })
  }
  if (container_cache) {
    const tag = containerCacheTag(pipeline_id)
    wanted.push({ tag, purpose: 'container_cache', requested_mb: containerCacheMb })
  }
  return wanted
}

class Planning {
  private readonly trx: Trx
  private readonly ctx: Context
  private readonly settings: HostedSettings
  private readonly now: number
  private readonly unrunnable: UnrunnableJob[] = []
  private idle: IdleAgent[] = []
  private free = 0
  private images: ReadonlyMap<string, ImagesOfCluster> = new Map()

  constructor(trx: Trx, ctx: Context, settings: HostedSettings) {
    this.trx = trx
    this.ctx = ctx
    this.settings = settings
    this.now = ctx.now().getTime()
  }

  async run(): Promise<UnrunnableJob[]> {
    const jobs = await listRunnable(this.trx)
    const queues = await loadWarmQueues(this.trx, inMinutes(this.now, -warmMinutes))
    this.idle = await loadIdle(this.trx)
    if (jobs.length + queues.length + this.idle.length === 0) return []
    this.free = this.settings.mostCpus - (await this.usedCpus())
    this.images = await loadImages(this.trx, this.settings, [
      ...jobs.map((job) => job.cluster_id),
      ...queues.map((queue) => queue.cluster_id),
    ])
    await this.serveJobs(jobs)
    await this.keepWarm(queues)
    return this.unrunnable
  }

  private async usedCpus(): Promise<number> {
    const { rows } = await sql<{ shape: string; count: number }>`
      select instance_shape as shape, count(*) as count from hosted_agents group by instance_shape`.execute(
      this.trx,
    )
    return rows.reduce((sum, { shape, count }) => sum + (readRunnableShape(shape)?.cpus ?? 0) * count, 0)
  }

  private async serveJobs(jobs: readonly RunnableJob[]): Promise<void> {
    let isFull = false
    await this.eachApart('hosted_jobs', jobs, async (job) => {
      if (!isFull && (await this.serve(job)) === 'full') isFull = true
    })
  }

  /** Full: no job overtakes one that waits for capacity, because a large job could wait forever otherwise. */
  private async serve(job: RunnableJob): Promise<'full' | void> {
    const shape = readRunnableShape(job.instance_shape)
    const known = this.images.get(job.cluster_id)
    if (shape === null || known === undefined || !matchesHosted(job.rules, shape.tags)) return
    const image = chooseImage({ image: job.image, rules: job.rules, queueImage: job.queue_image }, known)
    if (image.kind === 'refuse') this.unrunnable.push({ ...job, reason: image.reason })
    if (image.kind !== 'run') return
    const needsVolumes = volumesOf(job).length > 0
    if (!needsVolumes && (await this.useIdle(job, image.ref))) return
    if (needsVolumes && (await this.awaitsCache(job))) return
    if (shape.cpus > this.settings.mostCpus) return
    if (shape.cpus > this.free && !(await this.freeCapacity(shape.cpus))) return 'full'
    await this.insertFor(job, image.ref, shape.cpus)
  }

  /** What a row that fails has changed here is undone, as in the database. */
  private async eachApart<Row extends { id: string }>(
    loop: 'hosted_jobs' | 'hosted_queues_warm',
    rows: readonly Row[],
    work: (row: Row) => Promise<void>,
  ): Promise<void> {
    await eachRowApart(
      { ...this.ctx, db: this.trx },
      loop,
      rows,
      ({ id }) => id,
      async (row) => {
        const { idle, free } = this
        await work(row).catch((error: unknown) => {
          this.idle = idle
          this.free = free
          throw error
        })
      },
    )
  }

  /** Whether the cache of a job that passed before this one could run is still being saved. */
  private awaitsCache(job: RunnableJob): Promise<boolean> {
    const tags = volumesOf(job).map(({ tag }) => tag)
    const from = new Date(this.now - savingSeconds * 1000).toISOString()
    const passed = { from, to: job.runnable_at }
    return volumes.isBeingSaved(this.trx, job.organization_id, job.cluster_id, tags, passed)
  }

  private async useIdle(job: RunnableJob, imageRef: string): Promise<boolean> {
    const fits = (agent: IdleAgent) =>
      agent.queue_id === job.queue_id &&
      agent.image_ref === imageRef &&
      agent.instance_shape === job.instance_shape
    const chosen =
      this.idle.find((agent) => fits(agent) && agent.connected_id !== null) ?? this.idle.find(fits)
    if (chosen === undefined) return false
    const { id, connected_id: agentId } = chosen
    if (agentId === null) {
      await sql`
        update hosted_agents set job_id = ${job.id}, state = case state when 'warm' then 'running' else state end
        where id = ${id}`.execute(this.trx)
    } else if (!(await offerJob(this.trx, this.ctx, { id, jobId: job.id, agentId }))) return true
    this.idle = this.idle.filter((agent) => agent !== chosen)
    await this.noteUse(job.queue_id)
    return true
  }

  /** Stops warm agents to free capacity. The job waits until they are gone, unless there is enough already. */
  private async freeCapacity(cpus: number): Promise<boolean> {
    let coming = this.free
    while (coming < cpus) {
      const [next, ...rest] = this.idle
      if (next === undefined) break
      this.idle = rest
      coming += readRunnableShape(next.instance_shape)?.cpus ?? 0
      await hosted.setStopping(this.trx, sql`h.id = ${next.id}`)
    }
    return this.free >= cpus
  }

  private async insertFor(job: RunnableJob, imageRef: string, cpus: number): Promise<void> {
    const id = await this.insert(job, job.id, imageRef, cpus)
    const ids = { organization_id: job.organization_id, cluster_id: job.cluster_id, hosted_agent_id: id }
    for (const volume of volumesOf(job)) await volumes.insertOwn(this.trx, { ...ids, ...volume })
    await this.noteUse(job.queue_id)
  }

  private async insert(
    queue: { organization_id: string; cluster_id: string; queue_id: string; instance_shape: string },
    jobId: string | null,
    imageRef: string,
    cpus: number,
  ): Promise<string> {
    const id = newId()
    this.free -= cpus
    await hosted.insert(this.trx, {
      id,
      organization_id: queue.organization_id,
      cluster_id: queue.cluster_id,
      queue_id: queue.queue_id,
      instance_shape: queue.instance_shape,
      image_ref: imageRef,
      job_id: jobId,
      token_hash: hostedTokenHash(this.ctx, id),
      token_expires_at: new Date(this.now).toISOString(),
      ends_at: inMinutes(this.now, jobId === null ? warmMinutes : 24 * 60),
    })
    return id
  }

  private async noteUse(queueId: string): Promise<void> {
    await sql`
      update cluster_queues set hosted_used_at = ${new Date(this.now).toISOString()} where id = ${queueId}`.execute(
      this.trx,
    )
  }

  private async keepWarm(queues: readonly WarmQueue[]): Promise<void> {
    const wanted = new Set<IdleAgent>()
    await this.eachApart(
      'hosted_queues_warm',
      queues.map((queue) => ({ ...queue, id: queue.queue_id })),
      async (queue) => {
        const shape = readRunnableShape(queue.instance_shape)
        const known = this.images.get(queue.cluster_id)
        if (shape === null || known === undefined) return
        const image = chooseImage({ image: null, rules: [], queueImage: queue.queue_image }, known)
        if (image.kind !== 'run') return
        const equal = this.idle.filter(
          ({ queue_id, image_ref, instance_shape }) =>
            queue_id === queue.queue_id && image_ref === image.ref && instance_shape === queue.instance_shape,
        )
        for (const agent of equal.slice(0, this.settings.warmAgents)) wanted.add(agent)
        for (let count = equal.length; count < this.settings.warmAgents && shape.cpus <= this.free; count++) {
          await this.insert(queue, null, image.ref, shape.cpus)
        }
      },
    )
    const unwanted = this.idle.filter((agent) => !wanted.has(agent))
    await eachRowApart(
      { ...this.ctx, db: this.trx },
      'hosted_agents_ended',
      unwanted,
      ({ id }) => id,
      ({ id }) => hosted.setStopping(this.trx, sql`h.id = ${id}`),
    )
  }
}

const inMinutes = (now: number, minutes: number) => new Date(now + minutes * 60_000).toISOString()
