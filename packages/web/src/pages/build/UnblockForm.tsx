import type { Schemas } from '../../api/operations.ts'
import { call } from '../../api/call.ts'
import type { JobTable } from '../../graph/job-table.ts'
import type { Job } from '../../graph/job.ts'
import { announceNow } from '../../parts/announce.ts'
import { Button } from '../../parts/Button.tsx'
import { useRefreshGraph, withState } from './job-actions.ts'
import { jobParamsOf, type JobPlace } from './queries.ts'
import { useAction } from './use-action.ts'
import styles from './Content.module.css'

const path = '/v2/organizations/{org}/pipelines/{pipeline}/builds/{build}/jobs/{job}/unblock' as const

interface Props {
  place: JobPlace
  job: Job
  detail: Schemas['Job']
  table: JobTable
}

export function UnblockForm({ place, job, detail, table }: Props) {
  const refresh = useRefreshGraph(place)
  const { isBusy, start } = useAction({
    show: () => {
      table.change([withState(job, 'unblocked')])
      return () => {
        table.change([withState(job, job.state)])
        void refresh()
      }
    },
    send: async (idempotencyKey) => {
      await call(`PUT ${path}`, { params: jobParamsOf(place), body: {}, idempotencyKey })
      announceNow(`${job.name} is unblocked.`)
      void refresh()
    },
  })
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault()
        start()
      }}
    >
      <p className={styles.lead}>{detail.label || job.name}</p>
      <div className={styles.actions}>
        <Button kind="primary" type="submit" isBusy={isBusy} disabled={isBusy}>
          Unblock
        </Button>
      </div>
    </form>
  )
}
