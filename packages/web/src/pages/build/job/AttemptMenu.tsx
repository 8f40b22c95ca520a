import type { Job } from '../../../graph/jobs/job.ts'
import { Icon } from '../../../parts/Icon.tsx'
import { Menu } from '../../../parts/Menu.tsx'

interface Props {
  attempts: readonly Job[]
  shown: Job
  onSelect: (job: string) => void
}

/** Every attempt keeps its log. */
export function AttemptMenu({ attempts, shown, onSelect }: Props) {
  const entries = attempts.map((job, index) => ({
    label: `Attempt ${index + 1}: ${job.look.label}${job.exitStatus === null ? '' : `, exit ${job.exitStatus}`}`,
    icon: job.look.icon,
    isChecked: job.id === shown.id,
    action: () => onSelect(job.id),
  }))
  const position = attempts.findIndex(({ id }) => id === shown.id) + 1
  return (
    <Menu label={`Attempt ${position} of ${attempts.length}. Show another`} entries={entries.toReversed()}>
      attempt {position} of {attempts.length}
      <Icon name="chevron-down" size={14} />
    </Menu>
  )
}
