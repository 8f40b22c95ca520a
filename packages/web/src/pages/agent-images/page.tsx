import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiFailure } from '../../api/call.ts'
import { Button } from '../../parts/Button.tsx'
import { showLabel } from '../../parts/labels.ts'
import { StateBadge } from '../../parts/state-badge/StateBadge.tsx'
import { Empty, NotLoaded } from '../../parts/States.tsx'
import { Table } from '../../parts/Table.tsx'
import { ClusterLayout } from '../cluster/ClusterLayout.tsx'
import type { ClusterAddress } from '../cluster/queries.ts'
import { NewImageDialog } from './NewImageDialog.tsx'
import { imagesQuery } from './queries.ts'

export function AgentImagesPage() {
  const address = useParams({ from: '/organizations/$org/clusters/$cluster/agent_images' })
  const [isNewOpen, setNewOpen] = useState(false)
  return (
    <ClusterLayout
      address={address}
      name="agent_images"
      subtitle="Agents of a hosted queue run in an image. Its settings choose which."
      actions={
        <Button isWrite kind="primary" icon="plus" onClick={() => setNewOpen(true)}>
          New image
        </Button>
      }
    >
      {() => (
        <>
          <Images address={address} />
          {isNewOpen && <NewImageDialog address={address} onClose={() => setNewOpen(false)} />}
        </>
      )}
    </ClusterLayout>
  )
}

function Images({ address }: { address: ClusterAddress }) {
  const images = useQuery(imagesQuery(address))
  if (images.error instanceof ApiFailure && images.error.status === 404)
    return <Empty title="There are no agent images here">{images.error.message}.</Empty>
  if (images.data === undefined) return <NotLoaded query={images} rows={3} />
  if (images.data.length === 0)
    return <Empty title="No agent images yet">Agents run in the installation’s own image.</Empty>
  return (
    <Table
      label="Agent images"
      rows={images.data}
      columns={[
        {
          head: 'Name',
          titleOf: ({ name }) => name,
          render: ({ name, web_url: url }) => <Link to={new URL(url).pathname}>{showLabel(name)}</Link>,
        },
        { head: 'State', render: ({ status }) => <StateBadge kind="image" state={status} /> },
        { head: 'Version', look: 'number', render: ({ version }) => version },
        {
          head: 'Reference',
          look: 'aside',
          titleOf: ({ image_ref: ref }) => ref ?? undefined,
          render: ({ image_ref: ref }) => (ref === null ? 'Not built yet' : <code>{ref}</code>),
        },
      ]}
    />
  )
}
