// What the document of an archived build says.
import type { Schemas } from '../../../api/operations.ts'
import { KIND_NAMES } from '../../../graph/jobs/job.ts'

type Document = Schemas['ArchivedBuildDocument']
type Job = Pick<Schemas['Job'], 'name' | 'label' | 'command' | 'step'>

/** As it was typed. A job without a name has that of its step. */
export function nameOf(job: Job, steps: ReadonlyMap<string, Schemas['GraphStep']>): string {
  const step = steps.get(job.step.id)
  const firstLine = job.command?.trim().split('\n', 1)[0]
  return (
    job.name || job.label || step?.label || firstLine || (step === undefined ? 'Job' : KIND_NAMES[step.kind])
  )
}

/** The bytes of the logs that can be read, by the ids of their jobs. Retention deletes all logs of an archive at once. */
export const readableLogs = ({
  logs,
  logs_count: count,
}: Pick<Document, 'logs' | 'logs_count'>): ReadonlyMap<string, number> =>
  new Map(count === 0 ? [] : logs.flatMap(({ job_id: id, size, deleted }) => (deleted ? [] : [[id, size]])))

/** Only a file in a store of somebody's own outlives its build. */
export const linkOf = ({
  external_url: url,
}: Pick<Document['artifacts'][number], 'external_url'>): string | null =>
  url !== null && /^https?:\/\//.test(url) ? url : null
