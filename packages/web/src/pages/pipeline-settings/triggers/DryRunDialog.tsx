import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { FormDialog } from '../../../parts/dialogs/FormDialog.tsx'
import { Facts } from '../../../parts/Facts.tsx'
import { TextArea } from '../../../parts/Field.tsx'
import { Icon } from '../../../parts/Icon.tsx'
import { toneClass } from '../../../parts/state-badge/StateBadge.tsx'
import type { PipelineAddress } from '../queries.ts'
import { dryRun, type DryRun, type Trigger } from './queries.ts'
import styles from './triggers.module.css'

interface Props {
  address: PipelineAddress
  trigger: Trigger
  onClose: () => void
}

type Read = { ok: true; payload: Record<string, unknown> } | { ok: false; problem: string }

function readPayload(text: string): Read {
  try {
    const payload: unknown = JSON.parse(text)
    const isObject = typeof payload === 'object' && payload !== null && !Array.isArray(payload)
    return isObject
      ? { ok: true, payload: payload as Record<string, unknown> }
      : { ok: false, problem: 'A payload is a JSON object.' }
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : 'This is not JSON.' }
  }
}

export function DryRunDialog({ address, trigger, onClose }: Props) {
  const [text, setText] = useState('{\n}')
  const read = readPayload(text)
  const attempt = useMutation({
    mutationFn: (payload: Record<string, unknown>) => dryRun(address, trigger.id, payload),
  })
  return (
    <FormDialog
      title={`Try ${trigger.name}`}
      size="wide"
      action="Try"
      isBusy={attempt.isPending}
      onSubmit={() => {
        if (read.ok) attempt.mutate(read.payload)
      }}
      onClose={onClose}
    >
      <TextArea
        label="Payload"
        value={text}
        rows={10}
        spellCheck={false}
        hint="Nothing is built."
        problem={read.ok ? undefined : read.problem}
        onValue={setText}
      />
      {attempt.data !== undefined && <Outcome result={attempt.data} />}
      {attempt.error !== null && <p role="alert">{attempt.error.message}</p>}
    </FormDialog>
  )
}

const Outcome = ({ result: { would_build: isBuilt, message, build } }: { result: DryRun }) => (
  <div role="status" aria-label="Outcome">
    <p className={`${styles.outcome} ${toneClass(isBuilt ? 'passed' : 'failed')}`}>
      <Icon name={isBuilt ? 'circle-check' : 'circle-x'} size={14} /> {message}
    </p>
    {build !== null && (
      <Facts
        isFramed
        facts={[
          ['Branch', build.branch],
          ['Commit', build.commit],
          ['Message', build.message],
          ...Object.entries(build.env).map(([name, value]) => [name, value] as const),
        ]}
      />
    )}
  </div>
)
