import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { Button } from '../../../parts/Button.tsx'
import { ConfirmDialog } from '../../../parts/dialogs/ConfirmDialog.tsx'
import { useListKeys, useRowStops } from '../../../parts/list-keys.ts'
import { Empty, NotLoaded, ShowMore } from '../../../parts/States.tsx'
import { showFailure, showToast } from '../../../parts/toasts/toasts.ts'
import { PipelineSettings } from '../PipelineSettings.tsx'
import type { Pipeline, PipelineAddress } from '../queries.ts'
import { DeliveriesDialog } from './DeliveriesDialog.tsx'
import { DryRunDialog } from './DryRunDialog.tsx'
import { deleteTrigger, rotateTrigger, triggersQuery, updateTrigger, type Trigger } from './queries.ts'
import { SecretDialog, type NewSecret } from './SecretDialog.tsx'
import { TriggerDialog } from './TriggerDialog.tsx'
import { TriggerRow, type TriggerActions } from './TriggerRow.tsx'
import styles from './triggers.module.css'

type Open =
  | { kind: 'form'; trigger: Trigger | null }
  | { kind: 'try' | 'deliveries' | 'rotate' | 'delete'; trigger: Trigger }

export function TriggersPage() {
  const address = useParams({ from: '/$org/$pipeline/settings/triggers' })
  const queryClient = useQueryClient()
  const [open, setOpen] = useState<Open | null>(null)
  const [made, setMade] = useState<NewSecret | null>(null)
  const reload = () => queryClient.invalidateQueries({ queryKey: triggersQuery(address).queryKey })
  const enable = async (trigger: Trigger, isEnabled: boolean) => {
    try {
      await updateTrigger(address, trigger.id, { enabled: isEnabled })
      showToast(`${trigger.name} is ${isEnabled ? 'on' : 'off'}.`, {
        undo: () => void enable(trigger, !isEnabled),
      })
    } catch (error) {
      showFailure(error)
    }
    await reload()
  }
  const actions: TriggerActions = {
    onTry: (trigger) => setOpen({ kind: 'try', trigger }),
    onDeliveries: (trigger) => setOpen({ kind: 'deliveries', trigger }),
    onEdit: (trigger) => setOpen({ kind: 'form', trigger }),
    onEnable: (trigger, isEnabled) => void enable(trigger, isEnabled),
    onRotate: (trigger) => setOpen({ kind: 'rotate', trigger }),
    onDelete: (trigger) => setOpen({ kind: 'delete', trigger }),
  }
  return (
    <PipelineSettings
      address={address}
      name="triggers"
      subtitle="Addresses that turn the webhooks of any program into builds."
      renderActions={({ may }) =>
        may.edit && (
          <Button isWrite kind="primary" icon="plus" onClick={() => setOpen({ kind: 'form', trigger: null })}>
            New trigger
          </Button>
        )
      }
    >
      {({ pipeline, may }) => (
        <>
          <Triggers address={address} actions={may.edit ? actions : null} />
          {open !== null && (
            <OpenDialog
              address={address}
              pipeline={pipeline}
              open={open}
              onChanged={async (told) => {
                await reload()
                setMade(told)
              }}
              onClose={() => setOpen(null)}
            />
          )}
          {open === null && made !== null && <SecretDialog {...made} onClose={() => setMade(null)} />}
        </>
      )}
    </PipelineSettings>
  )
}

interface DialogProps {
  address: PipelineAddress
  pipeline: Pipeline
  open: Open
  /** Is given a secret that was made, and an address that the sender is to be told. */
  onChanged: (told: NewSecret | null) => Promise<unknown>
  onClose: () => void
}

function OpenDialog({ address, pipeline, open, onChanged, onClose }: DialogProps): ReactNode {
  const { kind, trigger } = open
  switch (kind) {
    case 'form':
      return (
        <TriggerDialog
          address={address}
          pipeline={pipeline}
          trigger={trigger}
          onSaved={onChanged}
          onClose={onClose}
        />
      )
    case 'try':
      return <DryRunDialog address={address} trigger={trigger} onClose={onClose} />
    case 'deliveries':
      return <DeliveriesDialog address={address} trigger={trigger} onClose={onClose} />
    case 'rotate':
      return (
        <ConfirmDialog
          title={`Give ${trigger.name} a new address?`}
          action="Make a new address"
          onConfirm={async () => {
            const { secret, ...rotated } = await rotateTrigger(address, trigger.id)
            await onChanged({ trigger: rotated, secret: secret ?? null })
          }}
          onClose={onClose}
        >
          <p>The old address and the old secret stop working at once.</p>
        </ConfirmDialog>
      )
    case 'delete':
      return (
        <ConfirmDialog
          title={`Delete the trigger ${trigger.name}?`}
          action="Delete this trigger"
          onConfirm={async () => {
            await deleteTrigger(address, trigger.id)
            await onChanged(null)
            showToast(`The trigger ${trigger.name} is deleted.`)
          }}
          onClose={onClose}
        >
          <p>Its address and its deliveries are gone at once. The builds that it has made stay.</p>
        </ConfirmDialog>
      )
  }
}

function Triggers({ address, actions }: { address: PipelineAddress; actions: TriggerActions | null }) {
  useListKeys()
  const rowStops = useRowStops<HTMLUListElement>()
  const list = useInfiniteQuery(triggersQuery(address))
  const rows = list.data?.pages.flatMap((page) => page.rows)
  if (rows === undefined) return <NotLoaded query={list} />
  if (rows.length === 0)
    return (
      <Empty title="No triggers yet">
        A trigger builds the pipeline when another program sends a payload: a registry, a tracker, a bot.
      </Empty>
    )
  return (
    <>
      <ul ref={rowStops} className={`card ${styles.list}`} aria-label="Triggers">
        {rows.map((trigger) => (
          <li key={trigger.id} className={styles.row} data-list-row>
            <TriggerRow trigger={trigger} actions={actions} />
          </li>
        ))}
      </ul>
      <ShowMore list={list} />
    </>
  )
}
