import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../../parts/Button.tsx'
import { Facts } from '../../../parts/Facts.tsx'
import { Icon } from '../../../parts/Icon.tsx'
import { SectionHead } from '../../../parts/settings/SectionHead.tsx'
import { toneClass } from '../../../parts/state-badge/StateBadge.tsx'
import { Time, TimeOrNever } from '../../../parts/time/Time.tsx'
import { showToast } from '../../../parts/toasts/toasts.ts'
import type { PipelineAddress } from '../queries.ts'
import { healthKey, healthQuery, reconcile, sendTest, type RepositoryHealth } from './health-query.ts'
import { LastDelivery } from './LastDelivery.tsx'
import styles from './Health.module.css'

/** Whether the webhook works, and what it missed. */
export function Health({ address }: { address: PipelineAddress }) {
  const queryClient = useQueryClient()
  /** When the newest delivery came before a test. */
  const [since, setSince] = useState<string | null>()
  const test = useMutation({
    mutationFn: () => sendTest(address),
    async onSuccess() {
      await queryClient.invalidateQueries({ queryKey: healthKey(address) })
      showToast('The host was asked for its test.')
    },
  })
  const { data } = useQuery(healthQuery(address, test.isSuccess ? since : undefined))
  const asking = useMutation({
    mutationFn: () => reconcile(address),
    async onSuccess() {
      await queryClient.invalidateQueries({ queryKey: healthKey(address) })
      showToast('The repository is being asked.')
    },
  })
  if (data === undefined) return null
  const { pushes_last_7_days: pushes, pushes_without_delivery_last_7_days: missed } = data
  const { pull_requests_read_at: pullsAt, pull_requests_error: pullsError } = data
  const problem = test.error ?? asking.error
  return (
    <>
      <SectionHead title="Deliveries">
        <div className={styles.actions}>
          {data.hook.can_test && data.hook.registered === true && (
            <Button
              isWrite
              isBusy={test.isPending}
              onClick={() => {
                setSince(data.last_delivery?.received_at ?? null)
                test.mutate()
              }}
            >
              Send the host’s test
            </Button>
          )}
          {data.next_reconcile_at !== null && (
            <Button isWrite isBusy={asking.isPending} onClick={() => asking.mutate()}>
              Look for missed pushes now
            </Button>
          )}
        </div>
      </SectionHead>
      <Facts
        isFramed
        facts={[
          ['At the host', <Registered key="hook" hook={data.hook} />],
          ['Last delivery', <LastDelivery key="last" delivery={data.last_delivery} />],
          ['Pushes in 7 days', missed === 0 ? pushes : `${pushes}, of which ${missed} without a delivery`],
          ['Repository asked', <TimeOrNever key="asked" at={data.reconciled_at} />],
          ['Could not be asked', data.reconcile_error],
          [
            'Waiting',
            data.refs_waiting === 0 ? null : `${data.refs_waiting} branches and tags that have moved`,
          ],
          // Many hosts cannot be asked for them.
          ['Pull requests listed', pullsAt && <Time key="pulls" at={pullsAt} />],
          ['Pull requests not listed', pullsError],
        ]}
      />
      {problem !== null && <p role="alert">{problem.message}</p>}
    </>
  )
}

const states = {
  true: { tone: 'passed', icon: 'circle-check', word: 'The webhook is there' },
  false: { tone: 'failed', icon: 'circle-x', word: 'The webhook is not there' },
  null: { tone: 'idle', icon: 'circle-dashed', word: 'Not known' },
} as const

function Registered({ hook }: { hook: RepositoryHealth['hook'] }) {
  const { tone, icon, word } = states[`${hook.registered}`]
  return (
    <span className={styles.delivery}>
      <span className={`${styles.outcome} ${toneClass(tone)}`}>
        <Icon name={icon} size={14} /> {word}
      </span>
      {hook.reason !== null && <span>{hook.reason}</span>}
    </span>
  )
}
