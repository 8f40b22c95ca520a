// Appends events of queues to the outbox. Notifications ignore them: they are for readers that show queues.
import { sql, type RawBuilder } from 'kysely'

export const publishQueue = (organizationId: string, queueId: string, at: string): RawBuilder<unknown> => sql`
  insert into events (organization_id, kind, data, created_at)
  values (${organizationId}, 'queue.changed', jsonb_build_object('queue_id', ${queueId}::uuid), ${at}::timestamptz)`
