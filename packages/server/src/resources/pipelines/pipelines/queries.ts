import { sql, type RawBuilder } from 'kysely'
import type { Caller, Organization } from '../../../auth/caller.ts'
import { accessColumn, visiblePipelines, type PipelineAccess } from '../../../auth/pipeline-access.ts'
import type { Db, Trx } from '../../../db/pool.ts'
import { violatedUnique } from '../../../db/transaction.ts'
import { invalidFields, notFound } from '../../../lib/errors.ts'
import { userJson, type UserRow } from '../../people/user/queries.ts'
import type { Settings } from '../../../source-hosts/settings.ts'
import type { SealedUserinfo, sealWebhookToken } from './sealed.ts'
import type { Visibility } from './schema.ts'

export interface PipelineFields {
  cluster_id: string | null
  pipeline_template_id: string | null
  slug: string
  name: string
  description: string
  repository: string
  clone_mirror_url: string | null
  default_branch: string
  configuration: string
  env: Readonly<Record<string, string>>
  branch_configuration: string | null
  skip_queued_branch_builds: boolean
  skip_queued_branch_builds_filter: string | null
  cancel_running_branch_builds: boolean
  cancel_running_branch_builds_filter: string | null
  allow_rebuilds: boolean
  default_command_step_timeout: number | null
  maximum_command_step_timeout: number | null
  visibility: Visibility
  tags: string[]
  emoji: string | null
  color: string | null
  /** How often the repository is polled; null: never. */
  poll_interval_seconds: number | null
  /** Patterns separated by semicolons. */
  junit_artifacts: string | null
  provider_id: string
  /** Without the defaults of the host. */
  provider_settings: Settings
}

export const fieldNames = [
  'cluster_id',
  'pipeline_template_id',
  'slug',
  'name',
  'description',
  'repository',
  'clone_mirror_url',
  'default_branch',
  'configuration',
  'env',
  'branch_configuration',
  'skip_queued_branch_builds',
  'skip_queued_branch_builds_filter',
  'cancel_running_branch_builds',
  'cancel_running_branch_builds_filter',
  'allow_rebuilds',
  'default_command_step_timeout',
  'maximum_command_step_timeout',
  'visibility',
  'tags',
  'emoji',
  'color',
  'poll_interval_seconds',
  'junit_artifacts',
  'provider_id',
  'provider_settings',
] as const satisfies ReadonlyArray<keyof PipelineFields>

export interface PipelineRow extends PipelineFields {
  id: string
  organization_id: string
  webhook_token: string | null
  webhook_token_sealed: Buffer | null
  webhook_token_key_id: string | null
  badge_token: string
  /** The webhook at the host, and the repository it was created for. */
  host_webhook_id: string | null
  host_webhook_repository: string | null
  webhooks_disabled_at: string | null
  webhooks_disabled_by: string | null
  created_at: string
  created_by: UserRow | null
  archived_at: string | null
  /** Why the last poll of the repository failed. */
  poll_error: string | null
  /** The caller's rights on the pipeline. */
  access: PipelineAccess
  scheduled_builds: number
  running_builds: number
  scheduled_jobs: number
  running_jobs: number
  waiting_jobs: number
}

/** The fields of the caller's organization that decide about access. */
type PipelineOwner = Pick<Organization, 'id' | 'role' | 'teams_enabled'>

const columns = (access: RawBuilder<PipelineAccess>) => sql`
  p.id, p.organization_id, ${sql.join(fieldNames.map((name) => sql.ref(`p.${name}`)))}, p.webhook_token, p.webhook_token_sealed,
  p.webhook_token_key_id, p.badge_token, p.host_webhook_id, p.host_webhook_repository, p.webhooks_disabled_at,
  disabler.name as webhooks_disabled_by, p.created_at, ${userJson('creator')} as created_by, p.archived_at,
  (select poll.error from pipeline_polls poll
    where poll.pipeline_id = p.id and p.poll_interval_seconds is not null) as poll_error,
  ${access} as access, tally.*`

const joins = sql`
  left join users creator on creator.id = p.created_by
  left join users disabler on disabler.id = p.webhooks_disabled_by
  cross join lateral (
    select coalesce(sum(scheduled_builds), 0) as scheduled_builds, coalesce(sum(running_builds), 0) as running_builds,
      coalesce(sum(scheduled_jobs), 0) as scheduled_jobs, coalesce(sum(running_jobs), 0) as running_jobs,
      coalesce(sum(waiting_jobs), 0) as waiting_jobs
    from pipeline_tallies where pipeline_id = p.id
  ) tally`

async function select(
  db: Db,
  org: PipelineOwner,
  caller: Caller,
  condition: RawBuilder<unknown>,
): Promise<PipelineRow[]> {
  const { rows } = await sql<PipelineRow>`
    select ${columns(accessColumn(org, caller))} from pipelines p ${joins}
    where p.organization_id = ${org.id} and ${condition}`.execute(db)
  return rows
}

/** For notifications, which have no caller and cover several organizations. */
export async function listWithoutCaller(
  db: Db,
  orgIds: readonly string[],
  ids: readonly string[],
): Promise<Array<PipelineRow & { organization_slug: string }>> {
  const { rows } = await sql<PipelineRow & { organization_slug: string }>`
    select ${columns(sql`'none'`)}, o.slug as organization_slug
    from pipelines p join organizations o on o.id = p.organization_id ${joins}
    where p.organization_id = any (${orgIds}::uuid[]) and p.id = any (${ids}::uuid[])`.execute(db)
  return rows
}

/** Does not check access: the permission of the route has. */
export async function getBySlug(
  db: Db,
  org: PipelineOwner,
  caller: Caller,
  slug: string,
): Promise<PipelineRow> {
  const [pipeline] = await select(db, org, caller, sql`p.slug = ${slug}`)
  if (pipeline === undefined) throw notFound('No pipeline found')
  return pipeline
}

export async function getInOrg(db: Db, org: PipelineOwner, caller: Caller, id: string): Promise<PipelineRow> {
  const [pipeline] = await select(db, org, caller, sql`p.id = ${id}`)
  if (pipeline === undefined) throw notFound('No pipeline found')
  return pipeline
}

/** In no particular order. */
export const listById = (
  db: Db,
  org: PipelineOwner,
  caller: Caller,
  ids: readonly string[],
): Promise<PipelineRow[]> => select(db, org, caller, sql`p.id = any (${ids}::uuid[])`)

interface PipelineFilter {
  name: string | undefined
  repository: string | undefined
  includeArchived: boolean
  /** Only archived ones. */
  archivedOnly?: boolean | undefined
  clusterId?: string | undefined
  /** All of these. */
  tags?: readonly string[] | undefined
  /** Only these. */
  ids?: readonly string[] | undefined
}

export async function listVisible(
  db: Db,
  org: PipelineOwner,
  caller: Caller,
  {
    name,
    repository,
    includeArchived,
    archivedOnly = false,
    clusterId,
    tags,
    ids,
    limit,
    offset,
  }: PipelineFilter & { limit: number; offset: number },
): Promise<PipelineRow[]> {
  const contains = (column: 'name' | 'repository', text: string | undefined) =>
    text === undefined ? sql`true` : sql`strpos(lower(${sql.ref(`p.${column}`)}), lower(${text})) > 0`
  const { rows } = await sql<PipelineRow>`
    select ${columns(accessColumn(org, caller))}
    from (
      select * from pipelines p
      where p.organization_id = ${org.id} and ${visiblePipelines(org, caller)}
        and ${contains('name', name)} and ${contains('repository', repository)}
        and case when ${archivedOnly} then p.archived_at is not null
          else p.archived_at is null or ${includeArchived} end
        and (${clusterId ?? null}::uuid is null or p.cluster_id = ${clusterId ?? null}::uuid)
        and p.tags @> ${tags ?? []}::text[]
        and (${ids ?? null}::uuid[] is null or p.id = any (${ids ?? null}::uuid[]))
      order by p.created_at, p.id limit ${limit} offset ${offset}
    ) p ${joins}
    order by p.created_at, p.id`.execute(db)
  return rows
}

export function findIdBySlug(
  db: Db,
  orgId: string,
  slug: string,
): Promise<{ id: string; slug: string; default_branch: string } | undefined> {
  return db
    .selectFrom('pipelines')
    .select(['id', 'slug', 'default_branch'])
    .where('organization_id', '=', orgId)
    .where('slug', '=', slug)
    .executeTakeFirst()
}

/** Until the transaction ends, no other transaction deletes the pipeline. */
export async function holdInOrg(
  trx: Trx,
  orgId: string,
  id: string,
): Promise<{ id: string; name: string } | undefined> {
  const { rows } = await sql<{ id: string; name: string }>`
    select id, name from pipelines where organization_id = ${orgId} and id = ${id} for key share`.execute(trx)
  return rows[0]
}

/** Until the transaction ends, no other transaction updates or deletes the pipeline. Returns its id. */
export async function lockBySlug(trx: Trx, orgId: string, slug: string): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    select id from pipelines
    where organization_id = ${orgId} and slug = ${slug} for no key update`.execute(trx)
  const [pipeline] = rows
  if (pipeline === undefined) throw notFound('No pipeline found')
  return pipeline.id
}

export async function insert(
  trx: Trx,
  row: PipelineFields & {
    id: string
    organization_id: string
    created_by: string
    badge_token: string
  } & SealedUserinfo &
    ReturnType<typeof sealWebhookToken>,
): Promise<void> {
  await trx
    .insertInto('pipelines')
    .values({
      ...row,
      env: JSON.stringify(row.env),
      provider_settings: JSON.stringify(row.provider_settings),
    })
    .execute()
    .catch(refuseTaken)
}

export async function updateInOrg(
  trx: Trx,
  orgId: string,
  id: string,
  {
    env,
    provider_settings: settings,
    ...plain
  }: Partial<
    PipelineFields & {
      archived_at: string | null
      host_webhook_id: string | null
      host_webhook_repository: string | null
      webhooks_disabled_at: string | null
      webhooks_disabled_by: string | null
    } & SealedUserinfo
  >,
): Promise<void> {
  await trx
    .updateTable('pipelines')
    .set({
      ...plain,
      ...(env === undefined ? {} : { env: JSON.stringify(env) }),
      ...(settings === undefined ? {} : { provider_settings: JSON.stringify(settings) }),
    })
    .where('organization_id', '=', orgId)
    .where('id', '=', id)
    .execute()
    .catch(refuseTaken)
}

/** Deletes its builds, schedules and rules too. */
export function deleteBySlug(
  trx: Trx,
  orgId: string,
  slug: string,
): Promise<{ id: string; name: string } | undefined> {
  return trx
    .deleteFrom('pipelines')
    .where('organization_id', '=', orgId)
    .where('slug', '=', slug)
    .returning(['id', 'name'])
    .executeTakeFirst()
}

function refuseTaken(error: unknown): never {
  const constraint = violatedUnique(error)
  const field =
    constraint === 'pipelines_name_key' ? 'name' : constraint === 'pipelines_slug_key' ? 'slug' : null
  if (field === null) throw error
  throw invalidFields([{ field, code: `is taken: another pipeline has this ${field}` }])
}
