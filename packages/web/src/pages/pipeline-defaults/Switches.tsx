import { useQueryClient } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { Button } from '../../parts/Button.tsx'
import { Notice } from '../../parts/settings/Notice.tsx'
import { SectionHead } from '../../parts/settings/SectionHead.tsx'
import { Time } from '../../parts/time/Time.tsx'
import { showFailure, showToast } from '../../parts/toasts/toasts.ts'
import { pipelineSettingsQuery, turnOff, turnOn, type PipelineSettings } from './queries.ts'

interface Enablement {
  enabled: boolean
  enabled_at: string | null
  enabled_by: { name: string } | null
}

/** What is on or off, each with a button. */
export function Switches({ org, settings }: { org: string; settings: PipelineSettings }) {
  const queryClient = useQueryClient()
  const [busy, setBusy] = useState<string | null>(null)
  const change = async (title: string, act: () => Promise<unknown>, undo?: () => Promise<unknown>) => {
    setBusy(title)
    try {
      await act()
      showToast('Saved.', undo === undefined ? {} : { undo: () => void change(title, undo) })
    } catch (error) {
      showFailure(error)
    }
    await queryClient.invalidateQueries({ queryKey: pipelineSettingsQuery(org).queryKey })
    setBusy(null)
  }
  const row = (
    title: string,
    state: Enablement,
    on: () => Promise<unknown>,
    off: (() => Promise<unknown>) | null,
  ) => (
    <Notice
      action={
        state.enabled ? (
          off !== null && (
            <Button isBusy={busy === title} onClick={() => void change(title, off, on)}>
              Turn off
            </Button>
          )
        ) : (
          <Button isBusy={busy === title} onClick={() => void change(title, on, off ?? undefined)}>
            Turn on
          </Button>
        )
      }
    >
      {title} {stateText(state)}
    </Notice>
  )
  const metrics = settings.advanced_queue_metrics
  return (
    <>
      <SectionHead title="On and off" />
      {row(
        'Pipelines that everybody may see can be made.',
        settings.public_pipeline_creation,
        () => turnOn(org, 'public-pipelines'),
        () => turnOff(org, 'public-pipelines'),
      )}
      {row(
        'Members can open a terminal on hosted agents.',
        settings.hosted_agents_terminal_access,
        () => turnOn(org, 'hosted-agents-ssh'),
        () => turnOff(org, 'hosted-agents-ssh'),
      )}
      {row(
        'Queues show detailed figures. This cannot be turned off again.',
        metrics,
        () => turnOn(org, 'advanced-queue-metrics'),
        null,
      )}
    </>
  )
}

const stateText = ({ enabled, enabled_at: at, enabled_by: by }: Enablement): ReactNode => (
  <strong>
    {enabled ? 'On' : 'Off'}
    {enabled && at !== null && (
      <>
        , since <Time at={at} />
        {by === null ? '' : ` by ${by.name}`}
      </>
    )}
    .
  </strong>
)
