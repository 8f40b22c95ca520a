import { useQueryClient } from '@tanstack/react-query'
import type { BuildAddress, JobAddress } from '../../../api/addresses.ts'
import { call } from '../../../api/call.ts'
import type { JobTable } from '../../../graph/jobs/job-table.ts'
import { withState, type Job } from '../../../graph/jobs/job.ts'
import { announceNow } from '../../../parts/announce.ts'
import { graphQuery } from '../queries.ts'
import { useAction, type StartedAction } from '../use-action.ts'

const job = '/v2/organizations/{org}/pipelines/{pipeline}/builds/{build}/jobs/{job}' as const

const cancelable = new Set(['pending', 'waiting', 'limited', 'scheduled', 'assigned', 'accepted', 'running'])
const unassigned = new Set(['pending', 'waiting', 'limited', 'scheduled'])
const retryable = new Set(['failed', 'timed_out', 'canceled', 'expired'])

const isWork = ({ kind }: Job) => kind === 'command' || kind === 'trigger'

export const canCancel = (job: Job): boolean => isWork(job) && cancelable.has(job.state)
export const canRetry = (job: Job): boolean =>
  isWork(job) && job.retriedIn === null && retryable.has(job.state)
export const canReprioritize = ({ kind, state }: Job): boolean => kind === 'command' && unassigned.has(state)

interface Input {
  address: JobAddress
  job: Job
  table: JobTable
  /** The retried job has a new id. */
  onRetried: (id: string) => void
}

export interface JobActions {
  retry: StartedAction
  cancel: StartedAction
}

export function useJobActions({ address, job: shown, table, onRetried }: Input): JobActions {
  const refresh = useRefreshGraph(address)
  const retry = useAction({
    send: async (idempotencyKey) => {
      const { id } = await call(`PUT ${job}/retry`, { params: address, idempotencyKey })
      announceNow(`${shown.name} is retried.`)
      await refresh()
      onRetried(id)
    },
  })
  const cancel = useAction({
    show: () => showState(table, shown, 'canceling', refresh),
    send: async (idempotencyKey) => {
      await call(`PUT ${job}/cancel`, { params: address, idempotencyKey })
      announceNow(`${shown.name} is being canceled.`)
      void refresh()
    },
  })
  return { retry, cancel }
}

export function useRefreshGraph({ org, pipeline, build }: BuildAddress): () => Promise<void> {
  const client = useQueryClient()
  return () => client.invalidateQueries({ queryKey: graphQuery({ org, pipeline, build }).queryKey })
}

/** Shows the job in another state. Returns the function that takes it back. */
export function showState(table: JobTable, job: Job, state: string, refresh: () => Promise<void>) {
  table.change([withState(job, state)])
  return () => {
    table.change([job.short])
    void refresh()
  }
}
