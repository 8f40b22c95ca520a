import { Button } from '../../../parts/Button.tsx'
import { CopyBlock } from '../../../parts/Copy.tsx'
import { Icon } from '../../../parts/Icon.tsx'
import { showLabel } from '../../../parts/labels.ts'
import { Menu } from '../../../parts/Menu.tsx'
import type { Trigger } from './queries.ts'
import styles from './triggers.module.css'

export interface TriggerActions {
  onTry: (trigger: Trigger) => void
  onDeliveries: (trigger: Trigger) => void
  onEdit: (trigger: Trigger) => void
  onEnable: (trigger: Trigger, isEnabled: boolean) => void
  onRotate: (trigger: Trigger) => void
  onDelete: (trigger: Trigger) => void
}

/** `actions`: null for those who may not. */
export function TriggerRow({ trigger, actions }: { trigger: Trigger; actions: TriggerActions | null }) {
  const { enabled, condition, created_by: owner } = trigger
  const name = showLabel(trigger.name)
  return (
    <>
      <div className={styles.main}>
        <h2 className={styles.name}>
          {name}
          {!enabled && <span className={styles.off}>Off</span>}
        </h2>
        <p className={styles.facts}>
          {condition !== null && (
            <>
              If <code>{condition}</code>
            </>
          )}
          {condition === null && 'Every payload'}
          {owner !== null && `, as ${owner.name}`}
        </p>
        {trigger.address !== '' && <CopyBlock text={trigger.address} label={`address of ${name}`} />}
      </div>
      {actions !== null && (
        <div className={styles.actions}>
          <Button aria-label={`Try ${name}`} onClick={() => actions.onTry(trigger)}>
            Try
          </Button>
          <Button aria-label={`Deliveries of ${name}`} onClick={() => actions.onDeliveries(trigger)}>
            Deliveries
          </Button>
          <Menu
            label={`More about ${name}`}
            entries={[
              { label: 'Edit…', icon: 'pencil', action: () => actions.onEdit(trigger) },
              {
                label: enabled ? 'Turn off' : 'Turn on',
                icon: enabled ? 'pause' : 'play',
                action: () => actions.onEnable(trigger, !enabled),
              },
              { label: 'New address…', icon: 'rotate-ccw', action: () => actions.onRotate(trigger) },
              { label: 'Delete…', icon: 'trash', isDanger: true, action: () => actions.onDelete(trigger) },
            ]}
          >
            <Icon name="ellipsis" />
          </Menu>
        </div>
      )}
    </>
  )
}
