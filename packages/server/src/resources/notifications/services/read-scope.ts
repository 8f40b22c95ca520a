// Reads and checks `scope` and `scope_uuids`.
import type { Caller, Organization } from '../../../auth/caller.ts'
import type { Trx } from '../../../db/pool.ts'
import { validationFailed } from '../../../lib/errors.ts'
import { isUuid } from '../../../lib/ids.ts'
import type { ScopeName } from '../../../notifications/names.ts'
import * as services from './queries.ts'
import type { CreateServiceBody } from './schema.ts'

interface Targets {
  scope: ScopeName
  table: services.TargetTable | null
  ids: string[]
}

const tables: Readonly<Record<ScopeName, services.TargetTable | null>> = {
  all: null,
  some_projects: 'pipelines',
  some_teams: 'teams',
  some_clusters: 'clusters',
}

/** null: the body contains neither. */
export async function readTargets(
  trx: Trx,
  org: Organization,
  caller: Caller,
  before: { scope: ScopeName; scope_uuids: readonly string[] },
  { scope: sent, scope_uuids: sentIds }: Pick<CreateServiceBody, 'scope' | 'scope_uuids'>,
): Promise<Targets | null> {
  if (sent === undefined && sentIds === undefined) return null
  const scope = sent ?? before.scope
  const table = tables[scope]
  const ids = [...new Set(sentIds ?? (scope === before.scope ? before.scope_uuids : []))]
  if (table === null) {
    if (sentIds !== undefined && ids.length > 0) {
      throw validationFailed('scope_uuids must be left out when scope is all')
    }
    return { scope, table, ids: [] }
  }
  // All targets of a scope may have been deleted since; such an empty scope may be sent back.
  const wasEmptied = scope === before.scope && before.scope_uuids.length === 0
  if (ids.length === 0 && !wasEmptied) {
    throw validationFailed(`scope_uuids must name at least one of the ${table} when scope is ${scope}`)
  }
  const kept = scope === before.scope ? before.scope_uuids : []
  const found = await services.lockTargets(trx, org, caller, table, { ids: ids.filter(isUuid), kept })
  const missing = ids.find((id) => !found.has(id.toLowerCase()))
  if (missing !== undefined) {
    throw validationFailed(
      `scope_uuids has ${missing.slice(0, 60)}, which is none of the organization’s ${table}`,
    )
  }
  return { scope, table, ids }
}
