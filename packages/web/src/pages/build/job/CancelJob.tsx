import type { Job } from '../../../graph/jobs/job.ts'
import { Button } from '../../../parts/Button.tsx'
import { Dialog } from '../../../parts/dialogs/Dialog.tsx'

interface Props {
  job: Job
  isOpen: boolean
  onClose: () => void
  onCancel: () => void
}

export const CancelJob = ({ job, isOpen, onClose, onCancel }: Props) => (
  <Dialog
    title="Cancel this job?"
    isOpen={isOpen}
    onClose={onClose}
    actions={
      <>
        <Button onClick={onClose}>Keep it</Button>
        <Button kind="danger" onClick={onCancel}>
          Cancel the job
        </Button>
      </>
    }
  >
    <p>
      {job.startedMs === null ? `${job.name} will not run.` : `${job.name} will stop.`} Steps that need it
      will not run, unless they allow its failure.
    </p>
  </Dialog>
)
