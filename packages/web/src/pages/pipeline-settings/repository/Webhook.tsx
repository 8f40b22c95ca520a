import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Button } from '../../../parts/Button.tsx'
import { CopyBlock } from '../../../parts/Copy.tsx'
import { Notice } from '../../../parts/settings/Notice.tsx'
import { SectionHead } from '../../../parts/settings/SectionHead.tsx'
import { showToast } from '../../../parts/toasts/toasts.ts'
import { reloadPipeline, type Pipeline, type PipelineAddress } from '../queries.ts'
import { createWebhook, deleteWebhook, healthKey, healthQuery } from './health-query.ts'

interface Props {
  address: PipelineAddress
  pipeline: Pipeline
  /** Making it at the host takes the organization's token there. */
  isAdministrator: boolean
}

/** How the repository's host tells of pushes. */
export function Webhook({ address, pipeline, isAdministrator }: Props) {
  const queryClient = useQueryClient()
  const { data: health } = useQuery(healthQuery(address))
  const { id: provider, webhook_url: url, webhook_id: id } = pipeline.provider
  // One that was deleted at the host can be created again.
  const isThere = id !== null && health?.hook.registered !== false
  const change = useMutation({
    mutationFn: async () => {
      await (isThere ? deleteWebhook(address) : createWebhook(address))
      await Promise.all([
        reloadPipeline(queryClient),
        queryClient.invalidateQueries({ queryKey: healthKey(address) }),
      ])
    },
    onSuccess: () => showToast(isThere ? 'The webhook is deleted.' : 'The host has the webhook now.'),
  })
  if (url === '') return null
  return (
    <>
      <SectionHead title="Webhook" />
      <CopyBlock text={url} label="address of the webhook" />
      <Notice
        action={
          isAdministrator &&
          provider !== 'private' && (
            <Button isWrite isBusy={change.isPending} onClick={() => change.mutate()}>
              {isThere ? 'Delete it at the host' : 'Create it at the host'}
            </Button>
          )
        }
      >
        {isThere
          ? 'The host of the repository sends pushes to this address.'
          : `${health?.hook.instructions ?? ''} Take the secret of the repository connection. Whoever has this address can have commits built.`}
      </Notice>
      {change.error !== null && <p role="alert">{change.error.message}</p>}
    </>
  )
}
