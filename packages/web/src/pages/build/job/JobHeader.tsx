import { useState } from 'react'
import type { JobAddress } from '../../../api/addresses.ts'
import type { Schemas } from '../../../api/operations.ts'
import type { Job } from '../../../graph/jobs/job.ts'
import { Button, IconButton } from '../../../parts/Button.tsx'
import { ConfirmDialog } from '../../../parts/dialogs/ConfirmDialog.tsx'
import { StateBadge } from '../../../parts/state-badge/StateBadge.tsx'
import { Duration } from '../../../parts/time/Time.tsx'
import { AlsoIn } from './AlsoIn.tsx'
import { AttemptMenu } from './AttemptMenu.tsx'
import type { JobActions } from './job-actions.ts'
import { JobMenu } from './JobMenu.tsx'
import type { Dock } from '../panel-layout.ts'
import styles from './JobHeader.module.css'

export interface PanelControls {
  isFull: boolean
  canDock: boolean
  dock: Dock
  onDock: () => void
  /** null: the job is on the whole page anyway. */
  onFull: (() => void) | null
  onClose: () => void
}

interface Props extends PanelControls {
  address: JobAddress
  job: Job
  /** The first one first. */
  attempts: readonly Job[]
  detail: Schemas['Job'] | undefined
  actions: JobActions
  mayRetry: boolean
  mayCancel: boolean
  mayBuild: boolean
  onSelect: (job: string) => void
}

export function JobHeader(props: Props) {
  const { address, job, attempts, detail, actions, mayRetry, mayCancel, mayBuild, onSelect } = props
  const [isAsking, setAsking] = useState(false)
  const { retry, cancel } = actions
  return (
    <header className={styles.header}>
      {props.onFull === null && (
        <IconButton label="Back to the build" icon="arrow-left" onClick={props.onClose} />
      )}
      <StateBadge
        kind="job"
        state={job.state}
        detail={{ softFailed: job.isSoftFailed, unblockable: job.isUnblockable, reason: job.note }}
      />
      <h2 className={`truncated ${styles.name}`} title={job.name}>
        {job.name}
      </h2>
      <span className={styles.facts}>
        {job.look.tone !== 'passed' && noteOf(job)}
        {hasFailed(job) && <AlsoIn address={address} />}
        {job.startedMs !== null && <Duration from={job.startedMs} to={job.finishedMs} />}
        {attempts.length > 1 && <AttemptMenu attempts={attempts} shown={job} onSelect={onSelect} />}
      </span>
      <span className={styles.buttons}>
        {mayRetry && (
          <Button
            isWrite
            icon="rotate-ccw"
            isBusy={retry.isBusy}
            disabled={retry.isBusy}
            onClick={retry.start}
          >
            Retry
          </Button>
        )}
        {mayCancel && (
          <Button
            isWrite
            icon="ban"
            isBusy={cancel.isBusy}
            disabled={cancel.isBusy}
            onClick={() => setAsking(true)}
          >
            Cancel
          </Button>
        )}
        <JobMenu address={address} job={job} detail={detail} mayBuild={mayBuild} />
        <PanelButtons {...props} />
      </span>
      {isAsking && (
        <ConfirmDialog
          title="Cancel this job?"
          action="Cancel the job"
          onConfirm={cancel.start}
          onClose={() => setAsking(false)}
        >
          <p>
            {job.startedMs === null ? `${job.name} will not run.` : `${job.name} will stop.`} Steps that need
            it will not run, unless they allow its failure.
          </p>
        </ConfirmDialog>
      )}
    </header>
  )
}

const hasFailed = ({ state }: Job) => state === 'failed' || state === 'timed_out'

const noteOf = ({ note, exitStatus }: Job) => {
  const text = note ?? (exitStatus === null ? null : `exit ${exitStatus}`)
  return text !== null && <span className={`truncated ${styles.note}`}>{text}</span>
}

function PanelButtons({ isFull, canDock, dock, onDock, onFull, onClose }: PanelControls) {
  if (onFull === null) return null
  return (
    <>
      {canDock && (
        <IconButton
          label={dock === 'right' ? 'Dock below' : 'Dock right'}
          icon={dock === 'right' ? 'panel-bottom' : 'panel-right'}
          onClick={onDock}
        />
      )}
      <IconButton
        label={isFull ? 'Beside the build' : 'On the whole page'}
        icon={isFull ? 'minimize-2' : 'maximize-2'}
        onClick={onFull}
      />
      <IconButton label="Close the job" icon="x" onClick={onClose} />
    </>
  )
}
