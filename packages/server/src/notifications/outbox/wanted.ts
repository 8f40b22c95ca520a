// Decides in SQL which events somebody may want, so that the relay reads no others: most installations have few services and
// few pipelines with `notify`. match-services.ts and match-notify.ts decide exactly.
import { sql, type RawBuilder } from 'kysely'
import { eventNames, stepEventNames, type AuditEventName } from '../names.ts'

const kinds: readonly string[] = [...eventNames, ...stepEventNames, 'audit.logged' satisfies AuditEventName]

/** Like `triggersOf`: changes of a state have a list of event names, other events are named by their kind. */
const hasName = sql<boolean>`
  case when e.kind like '%.state_changed' then coalesce(e.data -> 'event_names', '[]') <> '[]'
    else e.kind = any (${kinds}::text[]) end`

/**
 * A condition on the row `e` of the outbox. `notify` of builds wants no events of jobs, and events of steps are published only
 * where `notify` of the step wants them. PostgreSQL may turn `exists` into a scan of the whole table, and before it has
 * statistics it may look for a build among all of the organization. So these are scalar subqueries, and the build is found
 * by its id before its organization is compared.
 */
export const isWanted: RawBuilder<boolean> = sql<boolean>`
  ${hasName} and (
    e.kind = any (${stepEventNames}::text[])
    or (select true from notification_services s
      where s.organization_id = e.organization_id and s.disabled_at is null and s.broken_at is null limit 1)
    or (e.job_id is null
      and (select b.organization_id = e.organization_id and b.notify <> '[]' from builds b where b.id = e.build_id))
  )`
