import { Icon } from '../parts/Icon.tsx'
import type { IconName } from '../parts/icon-names.ts'
import type { MenuEntry } from '../parts/menu/entry.ts'
import { Menu } from '../parts/Menu.tsx'
import { FindBar } from './search/FindBar.tsx'
import type { LogActions } from './actions.ts'
import type { Preferences } from './preferences.ts'
import { textUrl } from './model/source.ts'
import type { TimeForm } from './rows/times.ts'
import type { OpenLog } from './use-log.ts'
import styles from './Toolbar.module.css'

const timeNames: Record<TimeForm, string> = {
  off: 'Times',
  absolute: 'Absolute',
  'since start': 'Since start',
  delta: 'Delta',
}

interface Props {
  log: OpenLog
  actions: LogActions
  preferences: Preferences
  isFull: boolean | undefined
}

export function Toolbar({ log, actions, preferences, isFull }: Props) {
  const { times, isWrapped } = preferences
  const raw = textUrl(log.model.address)
  return (
    <div className={styles.toolbar} role="toolbar" aria-label="Log">
      <FindBar finder={log.finder} onLeave={actions.focus} />
      <span className={styles.space} />
      {log.model.failingRow !== null && (
        <Tool icon="circle-x" label="Go to the failing row" isFailing onClick={actions.goToFailing}>
          Failing row
        </Tool>
      )}
      <Tool icon="clock" label={`Times: ${times} (t)`} isOn={times !== 'off'} onClick={actions.changeTimes}>
        {timeNames[times]}
      </Tool>
      <Tool icon="wrap-text" label="Wrap long rows (w)" isOn={isWrapped} onClick={actions.toggleWrap}>
        Wrap
      </Tool>
      <a className={styles.tool} href={raw} target="_blank" rel="noopener" title="The text of the log">
        <Icon name="file-text" size={14} />
        <span className={styles.word}>Raw</span>
      </a>
      {isFull !== undefined && (
        <Tool
          icon={isFull ? 'minimize-2' : 'maximize-2'}
          label={isFull ? 'Leave full width (x)' : 'Full width (x)'}
          onClick={actions.toggleFull}
        >
          Full
        </Tool>
      )}
      <Menu label="More about this log" entries={moreEntries(actions)} className={styles.tool}>
        <Icon name="ellipsis" size={14} />
      </Menu>
    </div>
  )
}

const moreEntries = (actions: LogActions): MenuEntry[] => [
  { label: 'Download', icon: 'download', action: actions.download },
  { label: 'Copy link to this place', icon: 'link', keys: 'y', action: actions.copyLink },
  { label: 'Go to row…', icon: 'arrow-right', keys: 'l', action: actions.askRow },
  'separator',
  { label: 'Open all groups', icon: 'chevron-down', action: () => actions.setAllGroups(true) },
  { label: 'Close all groups', icon: 'chevron-right', keys: 'O', action: () => actions.setAllGroups(false) },
]

interface ToolProps {
  icon: IconName
  label: string
  isOn?: boolean
  isFailing?: boolean
  onClick: () => void
  children?: string
}

const Tool = ({ icon, label, isOn, isFailing = false, onClick, children }: ToolProps) => (
  <button
    type="button"
    className={`${styles.tool} ${isFailing ? styles.failing : ''}`}
    aria-label={label}
    title={label}
    aria-pressed={isOn}
    onClick={onClick}
  >
    <Icon name={icon} size={14} />
    {children !== undefined && <span className={styles.word}>{children}</span>}
  </button>
)
