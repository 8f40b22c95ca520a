// Adds tasks to the queue of graphile-worker. With a transaction as `db`, the task is added when the transaction commits.
//
// graphile-worker releases the tasks of a process that died only after four hours, and backups do not contain its schema. So
// the rows of our own tables say what is to be done, a task only makes it happen soon, and a cron task enqueues again what
// is overdue. For the same reason tasks have no named queues: the death of one process would block the whole queue.
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../db/pool.ts'
import type { Kind, Kinds } from './kinds.ts'

/** For pauses.ts: when waiting tasks are to run. */
export const taskTimes = sql<string | null>`
  select run_at from graphile_worker.jobs where locked_at is null and attempts < max_attempts`

interface TaskOptions {
  /** Replaces a waiting task of the same kind and key. A running one is left to end, and the new one follows it. */
  key?: string
  /** Not before that time. */
  runAt?: string
  /** Not before that many seconds have passed. A waiting task that is replaced keeps its time. */
  afterSeconds?: number
  /** Tasks without this run first. For kinds of which very many may be waiting. */
  isPatient?: boolean
}

export const enqueue = <K extends Kind>(
  db: Db,
  kind: K,
  payload: Kinds[K],
  options: TaskOptions = {},
): Promise<void> => enqueueAll(db, kind, [{ payload, ...options }])

export async function enqueueAll<K extends Kind>(
  db: Db,
  kind: K,
  tasks: ReadonlyArray<TaskOptions & { payload: Kinds[K] }>,
): Promise<void> {
  if (tasks.length > 0) await addTasks(kind, tasks).execute(db)
}

/** The statement, for transactions that send several at once. */
export function addTasks<K extends Kind>(
  kind: K,
  tasks: ReadonlyArray<TaskOptions & { payload: Kinds[K] }>,
): RawBuilder<unknown> {
  const rows = tasks.map(({ payload, key, runAt, afterSeconds, isPatient }) => ({
    payload,
    key: key === undefined ? null : `${kind}:${key}`,
    run_at: runAt ?? null,
    seconds: afterSeconds ?? null,
    priority: isPatient === true ? 10 : 0,
  }))
  return sql`
    select count(graphile_worker.add_job(${kind}, t.payload, job_key => t.key,
      run_at => coalesce(t.run_at, now() + make_interval(secs => t.seconds)), priority => t.priority,
      job_key_mode => case when t.seconds is null then 'replace' else 'preserve_run_at' end))
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as t (payload json, key text, run_at timestamptz, seconds float8, priority int)`
}
