// The labels of queues in metrics. Every queue with labels of its own adds dozens of series to each process, so only the oldest
// queues have them. All others share the label "other".
import { sql } from 'kysely'
import type { Db } from '../db/pool.ts'
import { prepared } from '../db/statement.ts'

/** Cluster names need not be unique: queues with the same key in clusters of the same name are one series. */
interface QueueNames {
  organization: string
  cluster: string
  queue: string
}

export interface QueueLabels {
  /** Never fails: without an answer of the database, the queue is one of the others. */
  of(queueId: string): Promise<QueueNames>
  /** The queues with labels of their own, read anew. */
  list(): Promise<ReadonlyMap<string, QueueNames>>
}

export const otherQueues: QueueNames = { organization: 'other', cluster: 'other', queue: 'other' }

/** An unknown queue is a new one while there is room for it. Otherwise it is most likely one of the others. */
const freshMs = { withRoom: 1000, full: 60_000 }

export function queueLabels(db: Db, most: number): QueueLabels {
  let known: ReadonlyMap<string, QueueNames> = new Map()
  let readAt = -Infinity
  let reading: Promise<unknown> | null = null
  const read = async () => {
    const { rows } = await listOldest(most).execute(db)
    known = new Map(rows.map(({ id, ...names }) => [id, names]))
    readAt = performance.now()
  }
  const readOnce = () => (reading ??= read().finally(() => (reading = null)))
  const isFresh = () => performance.now() - readAt < (known.size < most ? freshMs.withRoom : freshMs.full)
  return {
    async of(queueId) {
      if (!known.has(queueId) && !isFresh()) await readOnce().catch(() => {})
      return known.get(queueId) ?? otherQueues
    },
    async list() {
      await readOnce()
      return known
    },
  }
}

const listOldest = prepared(
  (most: number) => sql<QueueNames & { id: string }>`
    select q.id, o.slug as organization, c.name as cluster, q.key as queue
    from cluster_queues q join clusters c on c.id = q.cluster_id join organizations o on o.id = q.organization_id
    order by q.created_at, q.id limit ${most}`,
)
