// Git mirrors of clusters that have them enabled. After a job has used a repository, a container brings the cluster's mirror
// of it up to date; this container alone may write to the mirrors, jobs only read them. Repositories that need credentials
// have no mirror, and jobs clone them directly.
import { sql } from 'kysely'
import type { HostedSettings } from '../config/hosted.ts'
import type { Context } from '../context.ts'
import { eachRowApart } from '../db/each-row.ts'
import type { Db, Trx } from '../db/pool.ts'
import type { ContainerStatus, HostedDriver } from '../hosted/driver.ts'
import { newId } from '../lib/ids.ts'
import { enqueue } from '../tasks/enqueue.ts'
import type { Kinds } from '../tasks/kinds.ts'
import { isFree, leaseEnd } from '../tasks/lease.ts'
import { isEngineAway } from './engine-outage.ts'
import { mirrorsPath, runnerCommand } from './container.ts'

const leaseSeconds = 600
/** A mirror that was updated so recently is not updated again. */
const freshSeconds = 60
const failedSeconds = 900

interface StaleMirror {
  id: string
  clusterId: string
  repository: string
}

/** Called in the transaction that gives the job to its agent. */
export async function useMirror(trx: Trx, ctx: Context, jobId: string): Promise<void> {
  const at = ctx.now().toISOString()
  const { rows } = await sql<{ id: string; due_at: string }>`
    insert into git_mirrors as m (id, organization_id, cluster_id, repository, used_at)
    select ${newId()}, c.organization_id, c.id, p.repository, ${at}
    from jobs j join pipelines p on p.id = j.pipeline_id join hosted_agents h on h.job_id = j.id
    join clusters c on c.id = h.cluster_id
    where j.id = ${jobId} and c.hosted_git_mirror_enabled and p.repository <> ''
    on conflict (cluster_id, repository) do update set used_at = excluded.used_at
    returning m.id, greatest(m.used_at, m.lease_until, m.updated_at + make_interval(secs => ${freshSeconds})) as due_at`.execute(
    trx,
  )
  for (const { id, due_at: runAt } of rows) await enqueueUpdate(trx, id, runAt)
}

const enqueueUpdate = (db: Db, id: string, runAt: string) =>
  enqueue(db, 'update_git_mirror', { git_mirror_id: id }, { key: id, runAt })

export async function updateMirror(
  ctx: Context,
  { git_mirror_id: id }: Kinds['update_git_mirror'],
): Promise<void> {
  const { hosted: driver, config } = ctx
  if (driver === null || config.hosted === null) return
  const at = ctx.now().toISOString()
  const { rows } = await sql<StaleMirror>`
    update git_mirrors m set lease_until = ${leaseEnd(at, leaseSeconds)} from clusters c
    where m.id = ${id} and c.id = m.cluster_id and c.hosted_git_mirror_enabled and ${isFree('m.lease_until', at)}
      and (m.updated_at is null or m.updated_at < m.used_at)
    returning m.id, m.cluster_id as "clusterId", m.repository`.execute(ctx.db)
  for (const mirror of rows) await startUpdate(ctx, driver, config.hosted, mirror)
}

async function startUpdate(
  ctx: Context,
  driver: HostedDriver,
  { baseImage }: HostedSettings,
  { id, clusterId, repository }: StaleMirror,
): Promise<void> {
  try {
    await driver.startContainer({
      id,
      clusterId,
      image: baseImage,
      command: [runnerCommand, 'mirror'],
      limits: { cpus: 1, memoryMb: 2048, processes: 256 },
      mounts: [{ kind: 'git_mirror', path: mirrorsPath, readOnly: false }],
      environment: { MILLRACE_RUNNER_MIRRORS: mirrorsPath, MILLRACE_RUNNER_REPOSITORY: repository },
    })
  } catch (error) {
    ctx.log.warn({ err: error, git_mirror_id: id }, 'A git mirror could not be brought up to date.')
    await finish(ctx, id, error instanceof Error ? error.message : String(error))
  }
}

/** The ids of the containers that update mirrors. */
export async function listMirrorIds(ctx: Context): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`
    select id from git_mirrors where lease_until is not null`.execute(ctx.db)
  return new Set(rows.map(({ id }) => id))
}

export async function endUpdates(
  ctx: Context,
  driver: HostedDriver,
  containers: readonly ContainerStatus[],
): Promise<void> {
  const end = async ({ id, exitStatus }: ContainerStatus): Promise<void> => {
    if (exitStatus === null) return
    const output = exitStatus === 0 ? null : (await driver.readOutput(id)).trim().slice(-2000)
    await driver.stopContainer(id)
    await finish(ctx, id, output)
  }
  await eachRowApart(ctx, 'mirrors', containers, ({ id }) => id, end, { isOutage: isEngineAway })
}

/** A failed update is repeated after a while. */
async function finish(ctx: Context, id: string, error: string | null): Promise<void> {
  const at = ctx.now().toISOString()
  if (error === null) {
    await sql`
      update git_mirrors set last_error = null, lease_until = null, updated_at = ${at} where id = ${id}`.execute(
      ctx.db,
    )
    return
  }
  const retryAt = new Date(ctx.now().getTime() + failedSeconds * 1000).toISOString()
  await sql`
    update git_mirrors set last_error = ${error}, lease_until = ${retryAt} where id = ${id}`.execute(ctx.db)
  await enqueueUpdate(ctx.db, id, retryAt)
}
