import { sql } from 'kysely'
import type { Db } from '../../../db/pool.ts'
import { usualCurrency } from '../../pipelines/pipeline-settings/present.ts'

interface BuildCost {
  amount: number
  currency: string
}

/** What the jobs of a build have cost that have ended; undefined: nothing, as where no queue has a price. */
export async function findBuildCost(db: Db, orgId: string, buildId: string): Promise<BuildCost | undefined> {
  const { rows } = await sql<BuildCost>`
    select (c.cost_micros / 1000000.0)::float8 as amount, coalesce(s.currency, ${usualCurrency}) as currency
    from build_costs c left join organization_pipeline_settings s on s.organization_id = c.organization_id
    where c.organization_id = ${orgId} and c.build_id = ${buildId} and c.cost_micros > 0`.execute(db)
  return rows[0]
}
