import { sql } from 'kysely'
import type { Statement } from '../db/statement.ts'
import type { Scope } from './scope.ts'

/** A later value of a key replaces the earlier one. */
export function setMetaData(
  { buildId, organizationId }: Pick<Scope, 'buildId' | 'organizationId'>,
  values: Readonly<Record<string, string>>,
): Statement[] {
  const entries = Object.entries(values)
  if (entries.length === 0) return []
  const statement = sql`
    insert into build_meta_data (build_id, key, value, organization_id, created_at)
    select b.id, n.key, n.value, b.organization_id, b.created_at
    from builds b, unnest(${entries.map(([key]) => key)}::text[], ${entries.map(([, value]) => value)}::text[]) as n (key, value)
    where b.id = ${buildId} and b.organization_id = ${organizationId}
    on conflict (build_id, key) do update set value = excluded.value`
  return [statement]
}
