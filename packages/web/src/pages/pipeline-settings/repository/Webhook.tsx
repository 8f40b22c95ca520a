import { useMutation, useQueryClient } from '@tanstack/react-query'
import { call } from '../../../api/call.ts'
import { Button } from '../../../parts/Button.tsx'
import { CopyBlock } from '../../../parts/Copy.tsx'
import { Notice } from '../../../parts/settings/Notice.tsx'
import { SectionHead } from '../../../parts/settings/SectionHead.tsx'
import { showToast } from '../../../parts/toasts/toasts.ts'
import { reloadPipeline, type Pipeline, type PipelineAddress } from '../queries.ts'
import { howToPaste } from './provider-settings.ts'

interface Props {
  address: PipelineAddress
  pipeline: Pipeline
  /** Making it at the host takes the organization's token there. */
  isAdministrator: boolean
}

const webhook = '/v2/organizations/{org}/pipelines/{pipeline}/webhook'

/** How the repository's host tells of pushes. */
export function Webhook({ address, pipeline, isAdministrator }: Props) {
  const queryClient = useQueryClient()
  const { id: provider, webhook_url: url, webhook_id: id } = pipeline.provider
  const isThere = id !== null
  const change = useMutation({
    mutationFn: async () => {
      await call(isThere ? `DELETE ${webhook}` : `POST ${webhook}`, { params: address })
      await reloadPipeline(queryClient)
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
          : `${howToPaste(provider)} Take the secret of the repository connection. Whoever has this address can have commits built.`}
      </Notice>
      {change.error !== null && <p role="alert">{change.error.message}</p>}
    </>
  )
}
