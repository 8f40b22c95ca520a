import type { Schemas } from '../../../api/operations.ts'
import { StateIcon } from '../../../parts/state-badge/StateBadge.tsx'
import styles from '../tabs/RowList.module.css'

type Run = Schemas['ArchivedBuildDocument']['test_runs'][number]

export const ArchivedTests = ({ runs }: { runs: readonly Run[] }) => (
  <>
    {runs.map((run) => (
      <div key={run.id}>
        <p>
          {run.suite_slug}: {run.passed_count.toLocaleString()} passed, {run.failed_count.toLocaleString()}{' '}
          failed, {run.skipped_count.toLocaleString()} skipped
        </p>
        <ul className={styles.list} aria-label={`Failed tests of ${run.suite_slug}`}>
          {run.failures.map((failure, index) => (
            // A test may fail more than once in a run, and the archive does not change.
            // oxlint-disable-next-line react/no-array-index-key
            <Failure key={index} failure={failure} />
          ))}
        </ul>
      </div>
    ))}
  </>
)

const Failure = ({
  failure: { scope, name, location, failure_reason: reason },
}: {
  failure: Run['failures'][number]
}) => (
  <li className={styles.row}>
    <StateIcon kind="job" state="failed" />
    <span className={styles.name}>
      {scope !== '' && <span className="muted">{scope} › </span>}
      {name}
    </span>
    {location !== null && <code className={styles.more}>{location}</code>}
    {reason !== null && <span className={styles.more}>{reason}</span>}
  </li>
)
