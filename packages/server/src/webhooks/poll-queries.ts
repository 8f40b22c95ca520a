import { sql } from 'kysely'
import { mayBeTried } from '../db/each-row.ts'
import type { Db, Trx } from '../db/pool.ts'
import { inTransaction } from '../db/transaction.ts'
import type { Kinds } from '../tasks/kinds.ts'
import { leaseEnd } from '../tasks/lease.ts'

export type PollClaim = Kinds['poll_repository']

export interface ClaimedPoll extends PollClaim {
  repository: string
  repository_host: string | null
  userinfo_sealed: Buffer | null
  userinfo_key_id: string | null
  polled_at: string | null
  poll_interval_seconds: number | null
}

/** Pipelines that are not polled are, at this interval, from the first delivery on. */
const reconcileSeconds = 600

/** After two errors the repository is not asked again for so long: often nobody has given the server access to it. */
const failedReconcileSeconds = 3600

/** For queries with `pipelines p` and its `pipeline_polls q`: the settings have changed. */
const isOutdated = sql<boolean>`
  (p.archived_at is not null or p.repository <> q.repository
    or p.poll_interval_seconds is null and (q.delivered_at is null or p.webhooks_disabled_at is not null))`

/** For queries of `pipeline_polls q`. */
const isClaimed = ({ pipeline_id, organization_id, claim }: PollClaim) =>
  sql`q.organization_id = ${organization_id} and q.pipeline_id = ${pipeline_id} and q.claim = ${claim}`

/** For queries with `pipelines p`. */
const isNew = sql<boolean>`
  p.poll_interval_seconds is not null and p.archived_at is null
  and not exists (select from pipeline_polls q where q.pipeline_id = p.id)`

/** Whether a poll is due, or the settings of one have changed. */
export const hasPolls = sql<boolean>`
  (exists (select from pipeline_polls q
      where next_poll_at <= now() and ${mayBeTried('polls', sql`q.pipeline_id::text`)})
    or exists (select from pipeline_polls q join pipelines p on p.id = q.pipeline_id
      where ${isOutdated} and ${mayBeTried('polls_changed', sql`p.id::text`)})
    or exists (select from pipelines p where ${isNew} and ${mayBeTried('polls_changed', sql`p.id::text`)}))`

/** For tasks/pauses.ts. */
export const pollTimes = sql<string | null>`select next_poll_at from pipeline_polls`

/** Pipelines whose polls do not follow their settings. */
export async function listChanged(db: Db): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select p.id from pipelines p join pipeline_polls q on q.pipeline_id = p.id where ${isOutdated}
    union select p.id from pipelines p where ${isNew}`.execute(db)
  return rows.map(({ id }) => id)
}

/** A pipeline that turned polling off, or has another repository, starts over. */
export async function followSettings(db: Db, pipelineIds: readonly string[], now: string): Promise<void> {
  await sql`
    delete from pipeline_polls q using pipelines p
    where p.id = q.pipeline_id and p.id = any (${pipelineIds}::uuid[]) and ${isOutdated}`.execute(db)
  await sql`
    insert into pipeline_polls (pipeline_id, organization_id, repository, next_poll_at)
    select p.id, p.organization_id, p.repository, ${now} from pipelines p
    where p.id = any (${pipelineIds}::uuid[]) and ${isNew}
    on conflict do nothing`.execute(db)
}

/** At most so many polls wait or run, so that hosts that do not answer leave room for other tasks. */
const mostAtOnce = 8
/** Of repositories at one host, so that it leaves room for others. */
const mostOfHost = 5
/** Of all hosts together that did not answer the last time; each of them has one. */
const mostOfSilent = 4
/** A poll takes less. When a process dies, its polls count for so long. */
const leaseSeconds = 120
/** A host that nobody has asked for so long may answer again. */
const silentDays = 1

/**
 * The polls that are due, as many as may run, and those whose last one failed after the others. A host has a part of them, and one
 * that was silent the last time a single one, so that it delays only itself. `ending` is how many of the running tasks end with
 * this call. Tasks of a process that died count for a minute.
 */
export async function listDue(db: Db, now: string, ending: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
      with running as (
        select p.repository_host as host, count(*)::integer as polls
        from pipeline_polls q join pipelines p on p.id = q.pipeline_id
        where q.leased_until > ${now} group by 1
      ), due as (
        select q.pipeline_id as id, p.repository_host as host, s.host is not null as is_silent,
          q.error is not null as has_failed, p.poll_interval_seconds is null as is_reconcile, q.next_poll_at,
          coalesce(r.polls, 0) + row_number() over (partition by p.repository_host
            order by q.error is not null, p.poll_interval_seconds is null, q.next_poll_at) as place
        from pipeline_polls q join pipelines p on p.id = q.pipeline_id
        left join silent_hosts s on s.host = p.repository_host
        left join running r on r.host = p.repository_host
        where q.next_poll_at <= ${now} and ${mayBeTried('polls', sql`q.pipeline_id::text`, now)}
      ), allowed as (
        select *, case when is_silent then row_number() over (partition by is_silent order by next_poll_at)
          + (select count(*) from running join silent_hosts s using (host)) else 0 end as place_of_silent
        from due where host is null or place <= case when is_silent then 1 else ${mostOfHost}::integer end
      )
      select id from allowed where place_of_silent <= ${mostOfSilent}
      order by is_silent, has_failed, is_reconcile, next_poll_at
      limit greatest(0, ${mostAtOnce + ending} - (
        select count(*) from graphile_worker.jobs where task_identifier = 'poll_repository'
          and (locked_at is null or locked_at > now() - interval '1 minute')))`.execute(db)
  return rows.map(({ id }) => id)
}

/** The claim lasts until the next poll is due. Pipelines with webhooks spread in time. */
export async function claimDue(
  trx: Trx,
  pipelineIds: readonly string[],
  { now, claim }: { now: string; claim: string },
): Promise<PollClaim[]> {
  const { rows } = await sql<PollClaim>`
    with due as (
      select pipeline_id from pipeline_polls where pipeline_id = any (${pipelineIds}::uuid[]) and next_poll_at <= ${now}
      for update skip locked
    )
    update pipeline_polls q set claim = ${claim}, leased_until = ${leaseEnd(now, leaseSeconds)},
      next_poll_at = ${now}::timestamptz
        + make_interval(secs => coalesce(p.poll_interval_seconds, ${reconcileSeconds} * (0.9 + 0.2 * random())))
    from due, pipelines p where q.pipeline_id = due.pipeline_id and p.id = q.pipeline_id
    returning q.pipeline_id, q.organization_id, q.claim`.execute(trx)
  return rows
}

/** Undefined: another task has claimed the poll, or polling was turned off. */
export async function findClaimed(db: Db, claim: PollClaim): Promise<ClaimedPoll | undefined> {
  const { rows } = await sql<ClaimedPoll>`
    select q.pipeline_id, q.organization_id, q.claim, q.repository, q.polled_at, p.repository_host,
      p.poll_interval_seconds,
      p.repository_userinfo_sealed as userinfo_sealed, p.repository_userinfo_key_id as userinfo_key_id
    from pipeline_polls q join pipelines p on p.id = q.pipeline_id
    where ${isClaimed(claim)}`.execute(db)
  return rows[0]
}

/** Whether the claim still holds; if so, it does until the transaction ends. */
export async function holdClaim(trx: Trx, claim: PollClaim): Promise<boolean> {
  const { rows } = await sql`
    select pipeline_id from pipeline_polls q where ${isClaimed(claim)} for update`.execute(trx)
  return rows.length > 0
}

export async function endLease(db: Db, claim: PollClaim): Promise<void> {
  await sql`update pipeline_polls q set leased_until = null where ${isClaimed(claim)}`.execute(db)
}

/** Hosts are those of all organizations: each is silent for everybody. */
export async function noteHost(
  db: Db,
  host: string | null,
  { isSilent, at }: { isSilent: boolean; at: string },
): Promise<void> {
  if (host === null) return
  if (isSilent) {
    await sql`
      insert into silent_hosts (host, silent_at) values (${host}, ${at})
      on conflict (host) do update set silent_at = excluded.silent_at`.execute(db)
    return
  }
  await sql`
    delete from silent_hosts
    where host = ${host} or silent_at < ${at}::timestamptz - make_interval(days => ${silentDays})`.execute(db)
}

export async function getOrganization(db: Db, organizationId: string): Promise<{ slug: string }> {
  return db
    .selectFrom('organizations')
    .select('slug')
    .where('id', '=', organizationId)
    .executeTakeFirstOrThrow()
}

export async function listRefs(db: Db, { pipeline_id }: PollClaim): Promise<Map<string, string>> {
  const { rows } = await sql<{ ref: string; commit: string }>`
    select ref, commit from polled_refs where pipeline_id = ${pipeline_id}`.execute(db)
  return new Map(rows.map(({ ref, commit }) => [ref, commit]))
}

/** Refs that exist at the first poll are not built. Deliveries that came before it may know better where they are. */
export async function keepAll(
  db: Db,
  claimed: PollClaim,
  refs: ReadonlyMap<string, string>,
  at: string,
): Promise<void> {
  await inTransaction(db, async (trx) => {
    if (!(await holdClaim(trx, claimed))) return
    const [names, commits] = [[...refs.keys()], [...refs.values()]]
    await sql`
      insert into polled_refs (pipeline_id, ref, commit)
      select ${claimed.pipeline_id}, n.ref, n.commit
      from unnest(${names}::text[], ${commits}::text[]) as n (ref, commit)
      on conflict do nothing`.execute(trx)
    await recordPolled(trx, claimed, { at, refsWaiting: 0 })
  })
}

export async function recordPolled(
  db: Db,
  claim: PollClaim,
  { at, refsWaiting }: { at: string; refsWaiting: number },
): Promise<void> {
  await sql`
    update pipeline_polls q set polled_at = ${at}, error = null, refs_waiting = ${refsWaiting} where ${isClaimed(claim)}`.execute(
    db,
  )
}

export async function recordError(db: Db, claim: PollClaim, error: string): Promise<void> {
  await sql`
    update pipeline_polls q set error = ${error},
      next_poll_at = case when p.poll_interval_seconds is null and q.error is not null
        then next_poll_at + make_interval(secs => ${failedReconcileSeconds - reconcileSeconds}) else next_poll_at end
    from pipelines p where p.id = q.pipeline_id and ${isClaimed(claim)}`.execute(db)
}

interface PolledPipeline {
  id: string
  organization_id: string
  repository: string
}

/** From its first delivery on, a pipeline's repository is polled, also if its settings do not ask for it. */
export async function noteDelivery(
  trx: Trx,
  { id, organization_id, repository }: PolledPipeline,
  at: string,
): Promise<void> {
  await sql`
    delete from pipeline_polls where pipeline_id = ${id} and repository <> ${repository}`.execute(trx)
  await sql`
    insert into pipeline_polls (pipeline_id, organization_id, repository, next_poll_at, delivered_at)
    values (${id}, ${organization_id}, ${repository}, ${at}::timestamptz + make_interval(secs => 60 * random()), ${at})
    on conflict (pipeline_id) do update set delivered_at = excluded.delivered_at`.execute(trx)
}

/** Deliveries that came while the server was away are lost, so pipelines with webhooks are soon reconciled. */
export async function reconcileSoon(db: Db, now: string): Promise<void> {
  await sql`
    update pipeline_polls q set next_poll_at = least(next_poll_at, ${now}::timestamptz + make_interval(secs => 60 * random()))
    from pipelines p where p.id = q.pipeline_id and p.poll_interval_seconds is null and q.error is null`.execute(
    db,
  )
}

/** Has the repository asked as soon as it shows what has been delivered. False: it cannot be asked. */
export async function askIn(
  db: Db,
  { id, organization_id }: Pick<PolledPipeline, 'id' | 'organization_id'>,
  now: Date,
  seconds: number,
): Promise<boolean> {
  const at = new Date(now.getTime() + (seconds + 1) * 1000).toISOString()
  const { rows } = await sql`
    update pipeline_polls set next_poll_at = least(next_poll_at, ${at})
    where organization_id = ${organization_id} and pipeline_id = ${id} and polled_at is not null and error is null
    returning pipeline_id`.execute(db)
  return rows.length > 0
}
