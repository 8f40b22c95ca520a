import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../../parts/Button.tsx'
import { CopyBlock } from '../../../parts/Copy.tsx'
import { Dialog } from '../../../parts/dialogs/Dialog.tsx'
import { Facts } from '../../../parts/Facts.tsx'
import { Icon } from '../../../parts/Icon.tsx'
import { Empty, NotLoaded } from '../../../parts/States.tsx'
import { toneClass } from '../../../parts/state-badge/StateBadge.tsx'
import { Table } from '../../../parts/Table.tsx'
import { Time } from '../../../parts/time/Time.tsx'
import type { PipelineAddress } from '../queries.ts'
import { deliveriesQuery, deliveryQuery, type Trigger, type TriggerDelivery } from './queries.ts'
import styles from './triggers.module.css'

interface Props {
  address: PipelineAddress
  trigger: Trigger
  onClose: () => void
}

export function DeliveriesDialog({ address, trigger, onClose }: Props) {
  const [shown, setShown] = useState<string | null>(null)
  return (
    <Dialog title={`Deliveries of ${trigger.name}`} size="wide" isOpen onClose={onClose}>
      {shown === null ? (
        <List address={address} trigger={trigger} onShow={setShown} />
      ) : (
        <Whole address={address} trigger={trigger} id={shown} onBack={() => setShown(null)} />
      )}
    </Dialog>
  )
}

function List({
  address,
  trigger,
  onShow,
}: Pick<Props, 'address' | 'trigger'> & { onShow: (id: string) => void }) {
  const list = useInfiniteQuery(deliveriesQuery(address, trigger.id))
  const rows = list.data?.pages.flatMap((page) => page.rows)
  if (rows === undefined) return <NotLoaded query={list} rows={3} />
  if (rows.length === 0)
    return <Empty title="Nothing was received yet">The last 50 requests are kept here.</Empty>
  return (
    <Table
      label="Deliveries"
      rows={rows}
      columns={[
        { head: 'Answer', render: (delivery) => <Status {...delivery} /> },
        { head: 'Received', render: ({ received_at: at }) => <Time at={at} />, look: 'muted' },
        {
          head: 'What was done',
          render: ({ message, build }) =>
            build === null ? (
              message
            ) : (
              <Link to="/$org/$pipeline/builds/$number" params={{ ...address, number: String(build.number) }}>
                {message}
              </Link>
            ),
        },
      ]}
      renderAction={({ id }) => <Button onClick={() => onShow(id)}>Show</Button>}
    />
  )
}

const Status = ({ status }: Pick<TriggerDelivery, 'status'>) => (
  <span className={`${styles.outcome} ${toneClass(status === 200 ? 'passed' : 'failed')}`}>
    <Icon name={status === 200 ? 'circle-check' : 'circle-x'} size={14} /> {status}
  </span>
)

function Whole({
  address,
  trigger,
  id,
  onBack,
}: Pick<Props, 'address' | 'trigger'> & { id: string; onBack: () => void }) {
  const { data, ...query } = useQuery(deliveryQuery(address, trigger.id, id))
  if (data === undefined) return <NotLoaded query={query} rows={3} />
  return (
    <>
      <p>
        <Button onClick={onBack}>All deliveries</Button>
      </p>
      <p>
        <Status status={data.status} /> {data.message}
      </p>
      <Facts isFramed isCode facts={Object.entries(data.headers)} />
      <CopyBlock text={data.body} label="body" />
      {data.body_bytes > new TextEncoder().encode(data.body).length && (
        <p className="muted">The body has {data.body_bytes} bytes; this is its beginning.</p>
      )}
    </>
  )
}
