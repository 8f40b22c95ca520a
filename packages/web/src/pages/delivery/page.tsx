import { useMutation, useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { serviceQuery } from '../../api/resource-queries.ts'
import { Button, LinkButton } from '../../parts/Button.tsx'
import { Copy } from '../../parts/Copy.tsx'
import { Facts } from '../../parts/Facts.tsx'
import { Notice } from '../../parts/settings/Notice.tsx'
import { SectionHead } from '../../parts/settings/SectionHead.tsx'
import { StateBadge } from '../../parts/state-badge/StateBadge.tsx'
import { NotLoaded } from '../../parts/States.tsx'
import { Time } from '../../parts/time/Time.tsx'
import { showFailure, showToast } from '../../parts/toasts/toasts.ts'
import { OrganizationSettings } from '../settings/OrganizationSettings.tsx'
import { deliveryQuery, redeliver, reloadServices, type WholeDelivery } from '../services/queries.ts'
import { AttemptView } from './AttemptView.tsx'
import { BodyText } from './BodyText.tsx'

const from = '/organizations/$org/settings/services/$service/deliveries/$delivery'

export function DeliveryPage() {
  const address = useParams({ from })
  const delivery = useQuery(deliveryQuery(address))
  const { data: service } = useQuery(serviceQuery(address.org, address.service))
  const again = useMutation({
    mutationFn: () => redeliver(address),
    async onSuccess() {
      await reloadServices()
      showToast('It is sent again.')
    },
    onError: showFailure,
  })
  return (
    <OrganizationSettings
      org={address.org}
      name="services"
      title={delivery.data === undefined ? 'Delivery' : `Delivery of ${delivery.data.event}`}
      actions={
        service?.enabled === true && (
          <Button isWrite icon="rotate-ccw" isBusy={again.isPending} onClick={() => again.mutate()}>
            Redeliver
          </Button>
        )
      }
    >
      {service?.enabled === false && (
        <Notice
          action={
            <LinkButton
              to="/organizations/$org/settings/services/$service"
              params={{ org: address.org, service: address.service }}
            >
              Go to the service
            </LinkButton>
          }
        >
          The service is not enabled. Enable it to send this again.
        </Notice>
      )}
      {delivery.data === undefined ? <NotLoaded query={delivery} /> : <Whole delivery={delivery.data} />}
    </OrganizationSettings>
  )
}

function Whole({ delivery }: { delivery: WholeDelivery }) {
  const { id, state, event, attempts, payload } = delivery
  return (
    <>
      <Facts
        isFramed
        facts={[
          [
            'State',
            <StateBadge
              key="state"
              kind="delivery"
              state={state}
              detail={{ failures: delivery.attempts_count }}
            />,
          ],
          ['Event', event],
          ['Happened', <Time key="at" at={delivery.occurred_at} />],
          [
            'Next attempt',
            delivery.next_attempt_at === null ? null : <Time key="next" at={delivery.next_attempt_at} />,
          ],
          [
            'Id',
            <span key="id">
              <code>{id}</code> <Copy text={id} label="id" />
            </span>,
          ],
        ]}
      />
      {attempts.length === 0 && <p className="muted">Nothing was sent yet.</p>}
      {attempts.toReversed().map((attempt) => (
        <AttemptView key={attempt.number} attempt={attempt} />
      ))}
      {payload !== null && (
        <>
          <SectionHead title="Body" />
          <p className="muted">With the settings as they are now.</p>
          <BodyText label="Body" text={payload} />
        </>
      )}
    </>
  )
}
