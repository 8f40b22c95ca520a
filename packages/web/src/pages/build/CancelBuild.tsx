import type { Counts } from '../../graph/jobs/buckets.ts'
import { Button } from '../../parts/Button.tsx'
import { Dialog } from '../../parts/dialogs/Dialog.tsx'

interface Props {
  isOpen: boolean
  counts: Counts
  onClose: () => void
  onCancel: () => void
}

export const CancelBuild = ({ isOpen, counts, onClose, onCancel }: Props) => (
  <Dialog
    title="Cancel this build?"
    isOpen={isOpen}
    onClose={onClose}
    actions={
      <>
        <Button onClick={onClose}>Keep it running</Button>
        <Button kind="danger" onClick={onCancel}>
          Cancel the build
        </Button>
      </>
    }
  >
    <p>{consequencesOf(counts)}</p>
  </Dialog>
)

/** "4 running jobs will stop, and 12 waiting jobs will not run." */
function consequencesOf({ running, waiting, blocked }: Counts): string {
  const jobs = (count: number, word: string) => `${count} ${word} ${count === 1 ? 'job' : 'jobs'}`
  const parts = [
    ...(running > 0 ? [`${jobs(running, 'running')} will stop`] : []),
    ...(waiting + blocked > 0 ? [`${jobs(waiting + blocked, 'waiting')} will not run`] : []),
  ]
  if (parts.length === 0) return 'The build ends as canceled. Jobs of a canceled build cannot be retried.'
  return `${parts.join(', and ')}. Jobs of a canceled build cannot be retried.`
}
