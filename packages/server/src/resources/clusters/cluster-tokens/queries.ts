import { sql } from 'kysely'
import type { Db, Trx } from '../../../db/pool.ts'
import { childQueries } from '../../child-queries.ts'
import { userJson, type UserRow } from '../../people/user/queries.ts'

/** Never the token or its hash. */
export interface ClusterTokenRow {
  id: string
  cluster_id: string
  description: string
  allowed_ip_addresses: string
  expires_at: string | null
  created_at: string
  created_by: UserRow | null
}

const columns = sql`
  t.id, t.cluster_id, t.description, t.allowed_ip_addresses, t.expires_at, t.created_at,
  ${userJson('creator')} as created_by`

const select = sql`
  select ${columns} from cluster_tokens t left join users creator on creator.id = t.created_by`

/** While a token is locked, no agent registers with it. */
export const {
  get: getInCluster,
  list: listInCluster,
  lock: lockInCluster,
  delete: deleteInCluster,
} = childQueries<ClusterTokenRow>({
  table: 'cluster_tokens',
  alias: 't',
  select,
  parent: 'cluster_id',
  missing: 'No token found',
  strength: 'update',
})

/** For notifications, which cover several organizations. */
export async function listById(
  db: Db,
  orgIds: readonly string[],
  ids: readonly string[],
): Promise<Array<ClusterTokenRow & { organization_slug: string }>> {
  const { rows } = await sql<ClusterTokenRow & { organization_slug: string }>`
    select ${columns}, o.slug as organization_slug
    from cluster_tokens t join organizations o on o.id = t.organization_id
    left join users creator on creator.id = t.created_by
    where t.organization_id = any (${orgIds}::uuid[]) and t.id = any (${ids}::uuid[])`.execute(db)
  return rows
}

/** The agents that registered with the token and have a session. */
export async function listAgents(
  trx: Trx,
  orgId: string,
  id: string,
): Promise<Array<{ id: string; ip_address: string | null }>> {
  return trx
    .selectFrom('agents')
    .select(['id', 'ip_address'])
    .where('organization_id', '=', orgId)
    .where('cluster_token_id', '=', id)
    .where('connection_state', 'in', ['never_connected', 'connected', 'stopping'])
    .execute()
}

export interface ClusterTokenFields {
  description: string
  allowed_ip_addresses: string
  expires_at: string | null
}

export async function insert(
  trx: Trx,
  row: ClusterTokenFields & {
    id: string
    organization_id: string
    cluster_id: string
    token_hash: Buffer
    created_by: string
  },
): Promise<void> {
  await trx.insertInto('cluster_tokens').values(row).execute()
}

export async function updateInCluster(
  trx: Trx,
  orgId: string,
  clusterId: string,
  id: string,
  change: Partial<ClusterTokenFields>,
): Promise<void> {
  if (Object.keys(change).length === 0) return
  await trx
    .updateTable('cluster_tokens')
    .set(change)
    .where('organization_id', '=', orgId)
    .where('cluster_id', '=', clusterId)
    .where('id', '=', id)
    .execute()
}
