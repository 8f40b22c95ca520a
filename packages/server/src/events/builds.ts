// Appends events of builds to the outbox. Notifications ignore these: they are for readers that show builds.
import { sql, type RawBuilder } from 'kysely'

/** `build.changed`: its commit or message. `build.steps_changed`: steps were added, deleted or renamed. */
export const publishBuild = (
  kind: 'build.changed' | 'build.steps_changed',
  organizationId: string,
  buildId: string,
  at: string,
): RawBuilder<unknown> => sql`
  insert into events (organization_id, pipeline_id, build_id, kind, created_at)
  select organization_id, pipeline_id, id, ${kind}, ${at}::timestamptz from builds
  where organization_id = ${organizationId} and id = ${buildId}`
