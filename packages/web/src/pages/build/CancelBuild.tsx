import type { Counts } from '../../graph/jobs/buckets.ts'
import { ConfirmDialog } from '../../parts/dialogs/ConfirmDialog.tsx'

interface Props {
  counts: Counts
  onClose: () => void
  onCancel: () => void
}

export const CancelBuild = ({ counts, onClose, onCancel }: Props) => (
  <ConfirmDialog
    title="Cancel this build?"
    action="Cancel the build"
    keep="Keep it running"
    onConfirm={onCancel}
    onClose={onClose}
  >
    <p>{consequencesOf(counts)}</p>
  </ConfirmDialog>
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
