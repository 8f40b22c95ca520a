// Git mirrors of clusters that have them switched on. A container of its own, which alone may write to the cluster's
// mirrors, brings one up to date after a job has used its repository; jobs only read. Repositories that cannot be read
// without credentials have no mirror, and jobs clone them as if there were none.
import { sql } from 'kysely'
import type { HostedSettings } from '../../hosted-settings.ts'
import type { Context } from '../../context.ts'
import type { ContainerStatus, HostedDriver } from '../driver.ts'
import { newId } from '../../lib/ids.ts'
import { mirrorsPath, runnerCommand } from './container.ts'

const leaseSeconds = 600
/** How old a mirror may be before a job's use of it makes it worth an update. */
const freshSeconds = 60
const failedSeconds = 900

interface StaleMirror {
  id: string
  clusterId: string
  repository: string
}

/** Notes which repositories have been used, and starts what is due. */
export async function updateMirrors(ctx: Context): Promise<void> {
  const { hosted: driver, config } = ctx
  if (driver === null || config.hosted === null) return
  await noteUses(ctx)
  for (const mirror of await claimStale(ctx)) await startUpdate(ctx, driver, config.hosted, mirror)
}

async function noteUses(ctx: Context): Promise<void> {
  const at = ctx.now().toISOString()
  const { rows } = await sql<{ organization_id: string; cluster_id: string; repository: string }>`
    select distinct h.organization_id, h.cluster_id, p.repository
    from hosted_agents h join clusters c on c.id = h.cluster_id join jobs j on j.id = h.job_id
    join pipelines p on p.id = j.pipeline_id
    where c.hosted_git_mirror_enabled and p.repository <> ''`.execute(ctx.db)
  for (const used of rows) {
    await sql`
      insert into git_mirrors (id, organization_id, cluster_id, repository, used_at)
      values (${newId()}, ${used.organization_id}, ${used.cluster_id}, ${used.repository}, ${at})
      on conflict (cluster_id, repository) do update set used_at = ${at}`.execute(ctx.db)
  }
}

async function claimStale(ctx: Context): Promise<StaleMirror[]> {
  const now = ctx.now().getTime()
  const at = (seconds: number) => new Date(now + seconds * 1000).toISOString()
  const { rows } = await sql<StaleMirror>`
    with stale as (
      select m.id from git_mirrors m join clusters c on c.id = m.cluster_id
      where c.hosted_git_mirror_enabled and (m.lease_until is null or m.lease_until <= ${at(0)})
        and (m.updated_at is null or m.updated_at < m.used_at and m.updated_at < ${at(-freshSeconds)})
      limit 5 for update of m skip locked
    )
    update git_mirrors m set lease_until = ${at(leaseSeconds)} from stale where m.id = stale.id
    returning m.id, m.cluster_id as "clusterId", m.repository`.execute(ctx.db)
  return rows
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

/** The ids of containers that bring mirrors up to date. */
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
  for (const { id, exitStatus } of containers) {
    if (exitStatus === null) continue
    const output = exitStatus === 0 ? null : (await driver.readOutput(id)).trim().slice(-2000)
    await driver.stopContainer(id)
    await finish(ctx, id, output)
  }
}

/** One that failed is left in peace for a while. */
async function finish(ctx: Context, id: string, error: string | null): Promise<void> {
  const now = ctx.now().getTime()
  const until = new Date(now + failedSeconds * 1000).toISOString()
  await sql`
    update git_mirrors set last_error = ${error}, lease_until = ${error === null ? null : until},
      updated_at = case when ${error === null} then ${new Date(now).toISOString()}::timestamptz else updated_at end
    where id = ${id}`.execute(ctx.db)
}
