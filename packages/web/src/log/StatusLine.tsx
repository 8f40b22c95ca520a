import { useSyncExternalStore } from 'react'
import { Icon } from '../parts/Icon.tsx'
import type { LogActions } from './actions.ts'
import { newRows } from './viewport/follow.ts'
import type { LogModel } from './model/model.ts'
import { formatLines, type Lines } from './selection.ts'
import type { OpenLog } from './use-log.ts'
import styles from './StatusLine.module.css'

interface Props {
  log: OpenLog
  actions: LogActions
  lines: Lines | null
}

/** Whether the log grows and is followed, where the reader is, and what is selected. */
export function StatusLine({ log: { model, viewport }, actions, lines }: Props) {
  const { follow, topRow, isAtEnd } = useSyncExternalStore(viewport.subscribe, viewport.read)
  if (model.total === 0 && model.state !== 'ready')
    return <div className={styles.line}>{model.state === 'loading' && 'Loading…'}</div>
  const added = newRows(follow, model.total)
  return (
    <div className={styles.line}>
      <span className={styles.state}>{stateOf(model, follow.isFollowing)}</span>
      {lines === null ? (
        <span>
          Row {topRow.toLocaleString()} of {model.total.toLocaleString()}
        </span>
      ) : (
        <span className={styles.selection}>
          {formatLines(lines)}
          <button type="button" onClick={() => void actions.copyLines()}>
            Copy text
          </button>
          <button type="button" onClick={actions.copyLink}>
            Copy link
          </button>
          <button type="button" aria-label="Clear the selection" onClick={actions.clearLines}>
            <Icon name="x" size={12} />
          </button>
        </span>
      )}
      {!isAtEnd && (
        <button type="button" className={styles.end} onClick={actions.goToEnd}>
          <Icon name="arrow-down" size={12} />
          {added > 0 ? `${added.toLocaleString()} new` : model.isFinal ? 'End' : 'Follow'}
        </button>
      )}
    </div>
  )
}

function stateOf({ isFinal, stream, size }: LogModel, isFollowing: boolean): string {
  if (isFinal) return formatSize(size)
  if (stream === 'connecting') return 'Reconnecting…'
  return isFollowing ? 'Following' : 'Not following'
}

function formatSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(0)} kB`
  return `${(bytes / 1_000_000).toFixed(1)} MB`
}
