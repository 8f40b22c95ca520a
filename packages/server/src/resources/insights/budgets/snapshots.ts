// Budgets as messages of notification services show them.
import { sql } from 'kysely'
import type { Db } from '../../../db/pool.ts'
import type { Shown } from '../../../notifications/messages/message.ts'
import { usualCurrency } from '../../pipelines/pipeline-settings/present.ts'
import { budgetUrl, budgetWebUrl } from './present.ts'
import { subjectJson } from './queries.ts'

export async function loadBudgets(
  db: Db,
  url: string,
  orgIds: readonly string[],
  ids: readonly string[],
): Promise<Map<string, Shown>> {
  const { rows } = await sql<{ id: string; organization_slug: string }>`
    select b.id, o.slug as organization_slug, ${subjectJson('p')} as pipeline, ${subjectJson('t')} as team,
      coalesce(settings.currency, ${usualCurrency}) as currency, b.created_at
    from budgets b join organizations o on o.id = b.organization_id
    left join pipelines p on p.id = b.pipeline_id
    left join teams t on t.id = b.team_id
    left join organization_pipeline_settings settings on settings.organization_id = b.organization_id
    where b.organization_id = any (${orgIds}::uuid[]) and b.id = any (${ids}::uuid[])`.execute(db)
  return new Map(
    rows.map(({ id, organization_slug: slug, ...shown }) => [
      id,
      { id, url: budgetUrl(url, slug, id), web_url: budgetWebUrl(url, slug), ...shown },
    ]),
  )
}
