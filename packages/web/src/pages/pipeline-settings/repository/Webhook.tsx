import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../../parts/Button.tsx'
import { CopyBlock } from '../../../parts/Copy.tsx'
import { ConfirmDialog } from '../../../parts/dialogs/ConfirmDialog.tsx'
import { Notice } from '../../../parts/settings/Notice.tsx'
import { SectionHead } from '../../../parts/settings/SectionHead.tsx'
import { showToast } from '../../../parts/toasts/toasts.ts'
import { reloadPipeline, type Pipeline, type PipelineAddress } from '../queries.ts'
import { createWebhook, deleteWebhook, healthKey, healthQuery, rotateWebhookSecret } from './health-query.ts'
import styles from './Health.module.css'

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
  const [isRotating, setRotating] = useState(false)
  const reload = () =>
    Promise.all([
      reloadPipeline(queryClient),
      queryClient.invalidateQueries({ queryKey: healthKey(address) }),
    ])
  const change = useMutation({
    mutationFn: async () => {
      await (isThere ? deleteWebhook(address) : createWebhook(address))
      await reload()
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
            <span className={styles.actions}>
              {isThere && (
                <Button isWrite onClick={() => setRotating(true)}>
                  New secret…
                </Button>
              )}
              <Button isWrite isBusy={change.isPending} onClick={() => change.mutate()}>
                {isThere ? 'Delete it at the host' : 'Create it at the host'}
              </Button>
            </span>
          )
        }
      >
        {isThere
          ? `The host of the repository sends pushes to this address. ${health?.hook.own_secret_created_at == null ? 'It has no secret of its own yet.' : 'It signs them with a secret of its own.'}`
          : `${health?.hook.instructions ?? ''} Take the secret of the repository connection. Whoever has this address can have commits built.`}
      </Notice>
      {change.error !== null && <p role="alert">{change.error.message}</p>}
      {isRotating && (
        <ConfirmDialog
          title="Give the webhook a new secret?"
          action="Make a new secret"
          onConfirm={async () => {
            await rotateWebhookSecret(address)
            await reload()
            showToast('The webhook has a new secret.')
          }}
          onClose={() => setRotating(false)}
        >
          <p>
            The host gets it at once. Deliveries that are signed with the old one are refused from then on.
          </p>
        </ConfirmDialog>
      )}
    </>
  )
}
