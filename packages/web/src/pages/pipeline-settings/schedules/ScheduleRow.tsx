import { Button } from '../../../parts/Button.tsx'
import { Icon } from '../../../parts/Icon.tsx'
import { showLabel } from '../../../parts/labels.ts'
import { Menu } from '../../../parts/Menu.tsx'
import { Time } from '../../../parts/time/Time.tsx'
import type { PipelineAddress } from '../queries.ts'
import { NextBuilds } from './NextBuilds.tsx'
import type { Schedule } from './queries.ts'
import styles from './schedules.module.css'

export interface ScheduleActions {
  /** Missing for those who may not. */
  onRun?: (schedule: Schedule) => void
  onEdit?: (schedule: Schedule) => void
  onEnable?: (schedule: Schedule, isEnabled: boolean) => void
  onDelete?: (schedule: Schedule) => void
}

interface Props extends ScheduleActions {
  address: PipelineAddress
  schedule: Schedule
}

export const nameOf = ({ label, cronline }: Pick<Schedule, 'label' | 'cronline'>) => label || cronline

export function ScheduleRow({ address, schedule, onRun, onEdit, onEnable, onDelete }: Props) {
  const {
    cronline,
    branch,
    enabled,
    failed_at: failedAt,
    failed_message: failure,
    created_by: owner,
  } = schedule
  const name = showLabel(nameOf(schedule))
  return (
    <>
      <div className={styles.main}>
        <h2 className={styles.name}>
          {onEdit === undefined ? (
            name
          ) : (
            <button type="button" className={styles.open} onClick={() => onEdit(schedule)}>
              {name}
            </button>
          )}
          {!enabled && <span className={styles.off}>Off</span>}
        </h2>
        <p className={styles.facts}>
          <code>{cronline}</code> on {branch}
          {owner !== null && `, as ${owner.name}`}
        </p>
        {enabled && <NextBuilds address={address} cronline={cronline} />}
        {failedAt !== null && (
          <p className={styles.refused}>
            <Icon name="circle-x" size={14} /> No build could be made <Time at={failedAt} />: {failure}
          </p>
        )}
      </div>
      <div className={styles.actions}>
        {onRun !== undefined && (
          <Button isWrite icon="play" aria-label={`Run now: ${name}`} onClick={() => onRun(schedule)}>
            Run now
          </Button>
        )}
        {onEdit !== undefined && onEnable !== undefined && onDelete !== undefined && (
          <Menu
            label={`More about ${name}`}
            entries={[
              { label: 'Edit…', icon: 'pencil', action: () => onEdit(schedule) },
              {
                label: enabled ? 'Turn off' : 'Turn on',
                icon: enabled ? 'pause' : 'play',
                action: () => onEnable(schedule, !enabled),
              },
              { label: 'Delete…', icon: 'trash', isDanger: true, action: () => onDelete(schedule) },
            ]}
          >
            <Icon name="ellipsis" />
          </Menu>
        )}
      </div>
    </>
  )
}
