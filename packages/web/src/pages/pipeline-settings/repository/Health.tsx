import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { call, type Answer } from '../../../api/call.ts'
import { query } from '../../../api/queries.ts'
import { Button } from '../../../parts/Button.tsx'
import { Facts } from '../../../parts/Facts.tsx'
import { Icon } from '../../../parts/Icon.tsx'
import { SectionHead } from '../../../parts/settings/SectionHead.tsx'
import { toneClass } from '../../../parts/state-badge/StateBadge.tsx'
import { Time, TimeOrNever } from '../../../parts/time/Time.tsx'
import { showToast } from '../../../parts/toasts/toasts.ts'
import type { PipelineAddress } from '../queries.ts'
import styles from './Health.module.css'

const health = '/v2/organizations/{org}/pipelines/{pipeline}/repository_health'
type RepositoryHealth = Answer<`GET ${typeof health}`>

/** Until the first delivery somebody may be waiting for it. */
const whileWaitingMs = 3000
const afterwardsMs = 60_000

const healthQuery = (params: PipelineAddress) => ({
  ...query(`GET ${health}`, { params }),
  refetchInterval: ({ state }: { state: { data: RepositoryHealth | undefined } }) =>
    state.data?.last_delivery?.status === 200 ? afterwardsMs : whileWaitingMs,
})

/** Whether the webhook works, and what it missed. */
export function Health({ address }: { address: PipelineAddress }) {
  const queryClient = useQueryClient()
  const { data } = useQuery(healthQuery(address))
  const reconcile = useMutation({
    mutationFn: () => call(`POST ${health}/reconcile`, { params: address }),
    async onSuccess() {
      await queryClient.invalidateQueries({ queryKey: healthQuery(address).queryKey })
      showToast('The repository is being asked.')
    },
  })
  if (data === undefined) return null
  const { pushes_last_7_days: pushes, pushes_without_delivery_last_7_days: missed } = data
  return (
    <>
      <SectionHead title="Deliveries">
        {data.next_reconcile_at !== null && (
          <Button isWrite isBusy={reconcile.isPending} onClick={() => reconcile.mutate()}>
            Look for missed pushes now
          </Button>
        )}
      </SectionHead>
      <Facts
        isFramed
        facts={[
          ['Last delivery', <LastDelivery key="last" delivery={data.last_delivery} />],
          ['Pushes in 7 days', missed === 0 ? pushes : `${pushes}, of which ${missed} without a delivery`],
          ['Repository asked', <TimeOrNever key="asked" at={data.reconciled_at} />],
          ['Could not be asked', data.reconcile_error],
          [
            'Waiting',
            data.refs_waiting === 0 ? null : `${data.refs_waiting} branches and tags that have moved`,
          ],
        ]}
      />
      {reconcile.error !== null && <p role="alert">{reconcile.error.message}</p>}
    </>
  )
}

function LastDelivery({ delivery }: { delivery: RepositoryHealth['last_delivery'] }) {
  if (delivery === null) {
    return (
      <span className={`${styles.outcome} ${toneClass('idle')}`}>
        <Icon name="circle-dashed" size={14} /> None has come yet.
      </span>
    )
  }
  const isGood = delivery.status === 200
  return (
    <span className={styles.delivery}>
      <span className={`${styles.outcome} ${toneClass(isGood ? 'passed' : 'failed')}`}>
        <Icon name={isGood ? 'circle-check' : 'circle-x'} size={14} />
        {isGood ? 'The webhook works' : `Refused with ${delivery.status}`}
      </span>
      <span>
        {delivery.event}, <Time at={delivery.received_at} />. {delivery.message}
      </span>
    </span>
  )
}
