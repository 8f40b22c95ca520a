import type { Schemas } from '../../../api/operations.ts'
import { formatDuration } from '../../../parts/time/durations.ts'
import { Icon } from '../../../parts/Icon.tsx'
import { StateBadge, StateIcon } from '../../../parts/state-badge/StateBadge.tsx'
import styles from './RowList.module.css'

export function FailedTest({ test }: { test: Schemas['BuildTest'] }) {
  const { passed, failed } = test.executions_count_by_result
  const fail = test.latest_fail
  const details = (fail?.failure_expanded ?? []).flatMap(({ expanded, backtrace }) => [
    ...expanded,
    ...backtrace,
  ])
  return (
    <li className={styles.row}>
      <StateIcon kind="job" state="failed" />
      <span className={styles.name}>
        {test.scope !== '' && <span className="muted">{test.scope} › </span>}
        {test.known ? <a href={new URL(test.web_url).pathname}>{test.name}</a> : test.name}
      </span>
      {!test.known && <span className="muted">only builds of forks have run it</span>}
      {test.state !== 'enabled' && <StateBadge kind="test" state={test.state} />}
      {test.labels.length > 0 && <span className="muted">{test.labels.join(', ')}</span>}
      {test.owner !== null && <span className="muted">owned by {test.owner}</span>}
      {passed > 0 && (
        <span className="muted">
          <Icon name="triangle-alert" size={14} /> flaky: {failed} failed, {passed} passed
        </span>
      )}
      {fail?.duration != null && <span className="muted">{formatDuration(fail.duration)}</span>}
      {test.location !== null && <code className={styles.more}>{test.location}</code>}
      {fail?.failure_reason && <span className={styles.more}>{fail.failure_reason}</span>}
      {details.length > 0 && (
        <details className={styles.more}>
          <summary>Details</summary>
          <pre className={styles.text}>{details.join('\n')}</pre>
        </details>
      )}
    </li>
  )
}
