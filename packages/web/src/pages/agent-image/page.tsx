import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../parts/Button.tsx'
import { CopyBlock } from '../../parts/Copy.tsx'
import { ConfirmDialog } from '../../parts/dialogs/ConfirmDialog.tsx'
import { Facts } from '../../parts/Facts.tsx'
import { StateBadge } from '../../parts/state-badge/StateBadge.tsx'
import { NotLoaded } from '../../parts/States.tsx'
import { showToast } from '../../parts/toasts/toasts.ts'
import {
  deleteImage,
  imageQuery,
  imagesQuery,
  type AgentImage,
  type ImageAddress,
} from '../agent-images/queries.ts'
import { ClusterLayout } from '../cluster/ClusterLayout.tsx'
import { BuildLog } from './BuildLog.tsx'

export function AgentImagePage() {
  const address = useParams({ from: '/organizations/$org/clusters/$cluster/agent_images/$image' })
  const { data: image } = useQuery(imageQuery(address))
  const [isDeleting, setDeleting] = useState(false)
  return (
    <ClusterLayout
      address={address}
      name="agent_images"
      {...(image === undefined
        ? {}
        : { title: image.name, before: <StateBadge kind="image" state={image.status} /> })}
      actions={
        image !== undefined && (
          <Button isWrite kind="danger" icon="trash" onClick={() => setDeleting(true)}>
            Delete…
          </Button>
        )
      }
    >
      {() => (
        <>
          <Image address={address} />
          {isDeleting && image !== undefined && (
            <DeleteDialog address={address} image={image} onClose={() => setDeleting(false)} />
          )}
        </>
      )}
    </ClusterLayout>
  )
}

function Image({ address }: { address: ImageAddress }) {
  const query = useQuery(imageQuery(address))
  const image = query.data
  if (image === undefined) return <NotLoaded query={query} />
  return (
    <>
      <Facts
        isFramed
        facts={[
          ['Version', image.version],
          [
            'Reference',
            image.image_ref === null ? 'Not built yet' : <code key="ref">{image.image_ref}</code>,
          ],
          ['Built from', <code key="base">{image.base_image}</code>],
          ['Last error', image.last_build_error],
        ]}
      />
      <h2>Dockerfile</h2>
      <CopyBlock text={image.dockerfile} label="Dockerfile" />
      <h2>Log of the build</h2>
      <BuildLog address={address} isGrowing={image.status === 'BUILDING'} />
    </>
  )
}

interface DeleteProps {
  address: ImageAddress
  image: AgentImage
  onClose: () => void
}

function DeleteDialog({ address, image, onClose }: DeleteProps) {
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const { org, cluster } = address
  return (
    <ConfirmDialog
      title={`Delete the image ${image.name}?`}
      action="Delete this image"
      onConfirm={async () => {
        await deleteImage(address)
        await navigate({
          to: '/organizations/$org/clusters/$cluster/agent_images',
          params: { org, cluster },
        })
        await queryClient.invalidateQueries({ queryKey: imagesQuery(address).queryKey })
        showToast(`The image ${image.name} is deleted.`)
      }}
      onClose={onClose}
    >
      <p>No queue may use it, and no agent may run a job in it. It can be built again from its Dockerfile.</p>
    </ConfirmDialog>
  )
}
