import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { call } from '../../api/call.ts'
import type { BuildAddress } from '../../api/addresses.ts'
import type { Schemas } from '../../api/operations.ts'
import { announceNow } from '../../parts/announce.ts'
import { showToast } from '../../parts/toasts/toasts.ts'
import { buildQuery, graphQuery } from './queries.ts'
import { useAction } from './use-action.ts'

const build = '/v2/organizations/{org}/pipelines/{pipeline}/builds/{build}' as const

/** What "Retry failed" retries: the failures that the page counts. Canceled and soft failed jobs are none. */
const retriedStates = 'failed,timed_out,expired'

export function useBuildActions(address: BuildAddress) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const { queryKey } = buildQuery(address)
  const showState = (state: Schemas['Build']['state']) => {
    const before = client.getQueryData(queryKey)
    client.setQueryData(queryKey, (known) => known && { ...known, state })
    return () => {
      client.setQueryData(queryKey, before)
      void client.invalidateQueries({ queryKey })
    }
  }
  const refresh = () =>
    Promise.all([
      client.invalidateQueries({ queryKey }),
      client.invalidateQueries({ queryKey: graphQuery(address).queryKey }),
    ])

  const retryFailed = useAction({
    send: async (idempotencyKey) => {
      const { retried_jobs_count: count = 0 } = await call(`PUT ${build}/retry_failed_jobs`, {
        params: address,
        query: { states: retriedStates },
        body: {},
        idempotencyKey,
      })
      showToast(count === 1 ? '1 job is retried.' : `${count} jobs are retried.`)
      void refresh()
    },
  })
  const rebuild = useAction({
    send: async (idempotencyKey) => {
      const { number } = await call(`PUT ${build}/rebuild`, { params: address, idempotencyKey })
      announceNow(`Build ${number} is created.`)
      await navigate({
        to: '/$org/$pipeline/builds/$number',
        params: { org: address.org, pipeline: address.pipeline, number: String(number) },
      })
    },
  })
  const cancel = useAction({
    show: () => showState('canceling'),
    send: async (idempotencyKey) => {
      await call(`PUT ${build}/cancel`, { params: address, body: {}, idempotencyKey })
      announceNow('The build is being canceled.')
      void refresh()
    },
  })
  return { retryFailed, rebuild, cancel }
}

const over = new Set<string>(['passed', 'failed', 'canceled', 'skipped', 'not_run'])

export const isOver = ({ state }: Pick<Schemas['Build'], 'state'>): boolean => over.has(state)
export const isCanceled = ({ state }: Pick<Schemas['Build'], 'state'>): boolean =>
  state === 'canceled' || state === 'canceling' || state === 'skipped'
