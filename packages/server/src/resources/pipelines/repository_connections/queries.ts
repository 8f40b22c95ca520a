import { sql } from 'kysely'
import type { Db, Trx } from '../../../db/pool.ts'
import { violatedUnique } from '../../../db/transaction.ts'
import { notFound, validationFailed } from '../../../lib/errors.ts'
import { userJson, type UserRow } from '../../people/user/queries.ts'
import { connectionOfPipeline } from '../../../db/repository-connection.ts'
import { hostOf, portOf } from '../../../source-hosts/settings.ts'
import type { ConnectionType } from './schema.ts'

export interface ConnectionFields {
  type: ConnectionType
  url: string
  api_url: string
  host: string
  token_sealed: Buffer | null
  token_key_id: string | null
  /** The token, masked. */
  token_hint: string | null
  /** Set for a GitHub App, together with the next four columns. */
  app_id: string | null
  installation_id: string | null
  private_key_sealed: Buffer | null
  private_key_id: string | null
  /** The fingerprint of the key. */
  private_key_hint: string | null
  webhook_secret_sealed: Buffer | null
  webhook_secret_key_id: string | null
  webhook_secret_hint: string | null
  /** Whether jobs may check repositories out with it. */
  checkout_enabled: boolean
}

export interface ConnectionRow extends ConnectionFields {
  id: string
  port: number
  problem: string | null
  problem_at: string | null
  created_at: string
  created_by: UserRow | null
}

const select = sql`
  select c.id, c.type, c.url, c.api_url, c.host, c.port, c.token_sealed, c.token_key_id, c.token_hint, c.app_id,
    c.installation_id, c.private_key_sealed, c.private_key_id, c.private_key_hint, c.webhook_secret_sealed,
    c.webhook_secret_key_id, c.webhook_secret_hint, c.checkout_enabled, c.problem, c.problem_at, c.created_at,
    ${userJson('creator')} as created_by
  from repository_connections c left join users creator on creator.id = c.created_by`

export async function listInOrg(
  db: Db,
  orgId: string,
  page: { limit: number; offset: number },
): Promise<ConnectionRow[]> {
  const { rows } = await sql<ConnectionRow>`${select}
    where c.organization_id = ${orgId} order by c.created_at, c.id limit ${page.limit} offset ${page.offset}`.execute(
    db,
  )
  return rows
}

export async function getInOrg(db: Db, orgId: string, id: string): Promise<ConnectionRow> {
  const { rows } = await sql<ConnectionRow>`${select}
    where c.organization_id = ${orgId} and c.id = ${id}`.execute(db)
  const [connection] = rows
  if (connection === undefined) throw notFound('No repository connection found')
  return connection
}

export async function lockInOrg(trx: Trx, orgId: string, id: string): Promise<ConnectionRow> {
  await sql`select from repository_connections where organization_id = ${orgId} and id = ${id} for update`.execute(
    trx,
  )
  return getInOrg(trx, orgId, id)
}

export async function listByHost(db: Db, orgId: string, host: string): Promise<ConnectionRow[]> {
  const { rows } = await sql<ConnectionRow>`${select}
    where c.organization_id = ${orgId} and c.host = ${host} order by c.created_at, c.id`.execute(db)
  return rows
}

/** The same as `connectionOfPipeline`, for any address. */
export async function findOfRepository(
  db: Db,
  orgId: string,
  repository: string,
): Promise<ConnectionRow | undefined> {
  const host = hostOf(repository)
  const port = portOf(repository)
  const all = host === null ? [] : await listByHost(db, orgId, host)
  return all.find((each) => each.port === port) ?? all[0]
}

export async function insert(
  trx: Trx,
  row: ConnectionFields & { id: string; organization_id: string; created_by: string },
): Promise<void> {
  await trx.insertInto('repository_connections').values(row).execute().catch(refuseTaken)
}

export async function updateInOrg(
  trx: Trx,
  orgId: string,
  id: string,
  set: Partial<ConnectionFields>,
): Promise<void> {
  await trx
    .updateTable('repository_connections')
    .set({ ...set, problem: null, problem_at: null })
    .where('organization_id', '=', orgId)
    .where('id', '=', id)
    .execute()
    .catch(refuseTaken)
}

export async function deleteInOrg(trx: Trx, orgId: string, id: string): Promise<void> {
  await trx
    .deleteFrom('repository_connections')
    .where('organization_id', '=', orgId)
    .where('id', '=', id)
    .execute()
}

/** Sets the provider that the pipelines on a host show. `providers` has those of its connections by id. */
export async function updateProviders(
  trx: Trx,
  orgId: string,
  host: string,
  { providers, otherwise }: { providers: Readonly<Record<string, string>>; otherwise: string },
): Promise<void> {
  await sql`
    update pipelines set provider_id = now.provider_id
    from (
      select p.id, coalesce(${JSON.stringify(providers)}::jsonb ->> ${connectionOfPipeline}::text, ${otherwise}) as provider_id
      from pipelines p where p.organization_id = ${orgId} and p.repository_host = ${host}
    ) now
    where pipelines.organization_id = ${orgId} and pipelines.id = now.id
      and pipelines.provider_id <> now.provider_id`.execute(trx)
}

function refuseTaken(error: unknown): never {
  if (violatedUnique(error) !== 'repository_connections_host_key') throw error
  throw validationFailed('url names a host that another connection has already')
}
