import { sql, type RawBuilder } from 'kysely'
import { changeRows, type LoopContext } from '../db/each-row.ts'
import type { Db, Trx } from '../db/pool.ts'
import { connectionOfPipeline } from '../db/repository-connection.ts'
import { hashToken } from '../lib/ids.ts'
import type { Settings } from '../source-hosts/settings.ts'
import type { Pull } from '../source-hosts/events.ts'
import type { KnownPull } from './rules.ts'

export interface Target {
  id: string
  organization_id: string
  organization_slug: string
  slug: string
  name: string
  repository: string
  repository_host: string | null
  default_branch: string
  branch_configuration: string | null
  env: Record<string, string>
  provider_settings: Settings
  webhooks_disabled_at: string | null
  archived_at: string | null
}

const select = sql`
  select p.id, p.organization_id, o.slug as organization_slug, p.slug, p.name, p.repository, p.repository_host,
    p.default_branch, p.branch_configuration, p.env, p.provider_settings, p.webhooks_disabled_at, p.archived_at
  from pipelines p join organizations o on o.id = p.organization_id`

type PipelineIds = Pick<Target, 'id' | 'organization_id'>

/** For queries of tables whose rows belong to a pipeline. */
const isOf = ({ id, organization_id }: PipelineIds) =>
  sql`organization_id = ${organization_id} and pipeline_id = ${id}`

/** The token also identifies the organization. */
export async function findTarget(db: Db, webhookToken: string): Promise<Target | undefined> {
  const { rows } = await sql<Target>`
    ${select} where p.webhook_token_hash = ${hashToken(webhookToken)} or p.webhook_token = ${webhookToken}`.execute(
    db,
  )
  return rows[0]
}

interface OfConnection {
  id: string
  host: string
}

const belongsTo = ({ id, host }: OfConnection) =>
  sql`p.repository_host = ${host} and ${connectionOfPipeline} = ${id}`

export async function listTargetsById(
  db: Db,
  orgId: string,
  id: string,
  connection: OfConnection,
): Promise<Target[]> {
  const { rows } = await sql<Target>`
    ${select} where p.organization_id = ${orgId} and p.id = ${id} and ${belongsTo(connection)}`.execute(db)
  return rows
}

/** The pipelines that have published checks of the commit. */
export async function listTargetsWithChecks(
  db: Db,
  orgId: string,
  connection: OfConnection,
  commit: string,
): Promise<Target[]> {
  const { rows } = await sql<Target>`
    ${select} where p.organization_id = ${orgId} and ${belongsTo(connection)} and exists (
      select from commit_statuses s
      where s.organization_id = ${orgId} and s.pipeline_id = p.id and s.commit = ${commit} and s.context like 'check: %')
    order by p.id limit 50`.execute(db)
  return rows
}

/** Until the transaction ends, the pipeline is neither changed nor deleted, and no other delivery for it is carried out. */
export async function lockTarget(trx: Trx, orgId: string, id: string): Promise<Target | undefined> {
  await sql`select from pipelines where organization_id = ${orgId} and id = ${id} for no key update`.execute(
    trx,
  )
  const { rows } = await sql<Target>`${select} where p.organization_id = ${orgId} and p.id = ${id}`.execute(
    trx,
  )
  return rows[0]
}

/** False: the delivery was received before. Waits for a transaction that has the same delivery. */
export async function claimWebhookDelivery(
  trx: Trx,
  { id, organization_id }: PipelineIds,
  deliveryId: string,
  at: string,
): Promise<boolean> {
  const { rows } = await sql`
    insert into webhook_deliveries (pipeline_id, delivery_id, organization_id, received_at)
    values (${id}, ${deliveryId}, ${organization_id}, ${at})
    on conflict do nothing returning pipeline_id`.execute(trx)
  return rows.length > 0
}

export async function keepAnswer(
  trx: Trx,
  target: PipelineIds,
  deliveryId: string,
  answer: object,
): Promise<void> {
  await sql`
    update webhook_deliveries set answer = ${JSON.stringify(answer)}
    where ${isOf(target)} and delivery_id = ${deliveryId}`.execute(trx)
}

export async function findAnswer(db: Db, target: PipelineIds, deliveryId: string): Promise<unknown> {
  const { rows } = await sql<{ answer: unknown }>`
    select answer from webhook_deliveries where ${isOf(target)} and delivery_id = ${deliveryId}`.execute(db)
  return rows[0]?.answer
}

export const expireWebhookDeliveries = (ctx: LoopContext): Promise<number> =>
  changeRows(ctx, 'webhook_deliveries', {
    table: 'webhook_deliveries',
    key: sql`r.pipeline_id, r.delivery_id`,
    where: sql`r.received_at < now() - interval '30 days'`,
  })

/** Hexadecimal digits sort before `g`, so an abbreviated commit finds the full one. */
export async function findBuilt(
  db: Db,
  target: Target,
  commit: string,
  branch: string | null,
): Promise<number | null> {
  const { rows } = await sql<{ number: number }>`
    select number from builds where ${isOf(target)}
      and (${branch}::text is null or branch = ${branch})
      and ((commit >= ${commit} and commit < ${commit}::text || 'g')
        or (${branch}::text is not null and pull_request ->> 'head' = ${commit}))
    order by number desc limit 1`.execute(db)
  return rows[0]?.number ?? null
}

export async function listUnfinished(
  db: Db,
  target: Target,
  branch: string,
): Promise<Array<{ id: string; number: number }>> {
  const { rows } = await sql<{ id: string; number: number }>`
    select id, number from builds
    where ${isOf(target)} and branch = ${branch}
      and state in ('creating', 'scheduled', 'running', 'failing', 'blocked')
    order by number`.execute(db)
  return rows
}

export async function keepPull(
  trx: Trx,
  { id, organization_id }: Target,
  number: string,
  pull: Pull,
  at: string,
): Promise<void> {
  await sql`
    insert into pull_requests (pipeline_id, number, organization_id, branch, is_fork, data, updated_at)
    values (${id}, ${number}, ${organization_id}, ${pull.branch}, ${pull.isFork}, ${JSON.stringify(pull)}, ${at})
    on conflict (pipeline_id, number) do update
      set branch = excluded.branch, is_fork = excluded.is_fork, data = excluded.data, updated_at = excluded.updated_at`.execute(
    trx,
  )
}

export async function deletePull(trx: Trx, target: Target, number: string): Promise<void> {
  await sql`
    delete from pull_requests where ${isOf(target)} and number = ${number}`.execute(trx)
}

export const findPull = (db: Db, target: Target, number: string) =>
  findNewestPull(db, target, sql`number = ${number}`)

/** The newest open pull request from this branch of the repository itself. */
export const findPullOfBranch = (db: Db, target: Target, branch: string) =>
  findNewestPull(db, target, sql`branch = ${branch} and not is_fork`)

/** The open pull request from a fork that has this commit as its head; the newest of several. */
export const findForkPullOfCommit = (db: Db, target: PipelineIds, commit: string) =>
  findNewestPull(db, target, sql`is_fork and starts_with(${commit}, data ->> 'commit')`)

async function findNewestPull(
  db: Db,
  target: PipelineIds,
  condition: RawBuilder<unknown>,
): Promise<KnownPull | null> {
  const { rows } = await sql<KnownPull>`
    select number, data as pull from pull_requests where ${isOf(target)} and ${condition}
    order by length(number) desc, number desc limit 1`.execute(db)
  return rows[0] ?? null
}

/** Names such as `HEAD` and abbreviated commits are not stored, since they identify no commit. */
export async function keepCommit(
  trx: Trx,
  { id, organization_id }: Target,
  commit: string,
  at: string,
): Promise<void> {
  if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(commit)) return
  await sql`
    insert into repository_commits (pipeline_id, commit, organization_id, seen_at)
    values (${id}, ${commit}, ${organization_id}, ${at}) on conflict do nothing`.execute(trx)
}

/** An older commit counts as unknown, unless a branch or tag that is polled still has it. */
export const expireCommits = (ctx: LoopContext): Promise<number> =>
  changeRows(ctx, 'commits', {
    table: 'repository_commits',
    key: sql`r.pipeline_id, r.commit`,
    where: sql`r.seen_at < now() - interval '730 days'`,
  })

/** Whether a delivery or a poll found the commit on a branch or tag of the pipeline's own repository. */
export async function isOwnCommit(db: Db, target: PipelineIds, commit: string): Promise<boolean> {
  const { rows } = await sql`
    select from repository_commits where ${isOf(target)} and commit = ${commit}
    union all
    select from polled_refs r join pipeline_polls q on q.pipeline_id = r.pipeline_id
    join pipelines p on p.id = q.pipeline_id and p.repository = q.repository
    where p.organization_id = ${target.organization_id} and p.id = ${target.id} and r.commit = ${commit}
      and r.ref ~ '^refs/(heads|tags)/'
    limit 1`.execute(db)
  return rows.length > 0
}
