import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { BuildAddress } from '../../../api/addresses.ts'
import type { Schemas } from '../../../api/operations.ts'
import { formatDuration } from '../../../parts/time/durations.ts'
import { StateBadge } from '../../../parts/state-badge/StateBadge.tsx'
import { Empty, NotLoaded, ShowMore } from '../../../parts/States.tsx'
import { FailedTest } from './FailedTest.tsx'
import { failedTestsQuery, testRunsQuery } from '../queries.ts'
import content from '../Content.module.css'
import styles from './RowList.module.css'

export function Tests({ address, build }: { address: BuildAddress; build: Schemas['Build'] }) {
  const list = useInfiniteQuery(testRunsQuery(address))
  if (list.data === undefined) return <NotLoaded query={list} />
  const runs = list.data.pages.flatMap(({ rows }) => rows)
  if (runs.length === 0) {
    return (
      <Empty title="No test results">
        A test collector sends them to a suite of the organization while the build runs.
      </Empty>
    )
  }
  return (
    <div className={content.stack}>
      <Failures org={address.org} build={build} />
      <section>
        <h2>Runs</h2>
        <ul className={styles.list}>
          {runs.map((run) => (
            <Run key={run.id} org={address.org} run={run} />
          ))}
        </ul>
      </section>
    </div>
  )
}

const Run = ({ org, run }: { org: string; run: Schemas['TestRun'] }) => (
  <li className={styles.row}>
    <StateBadge
      kind="build"
      state={run.result === 'pending' || run.result === 'stale' ? 'running' : run.result}
    />
    <Link
      className={styles.name}
      to="/organizations/$org/analytics/suites/$suite"
      params={{ org, suite: run.suite.slug }}
    >
      {run.suite.slug}
    </Link>
    <span className="muted">
      {[
        `${run.passed_count.toLocaleString()} passed`,
        ...(run.failed_count > 0 ? [`${run.failed_count.toLocaleString()} failed`] : []),
        ...(run.skipped_count > 0 ? [`${run.skipped_count.toLocaleString()} skipped`] : []),
      ].join(', ')}
    </span>
    <span className="muted">{formatDuration(run.duration)}</span>
  </li>
)

function Failures({ org, build }: { org: string; build: Schemas['Build'] }) {
  const list = useInfiniteQuery(failedTestsQuery(org, build.id))
  if (list.data === undefined) return <NotLoaded query={list} rows={3} />
  const tests = list.data.pages.flatMap(({ rows }) => rows)
  if (tests.length === 0) return <p className={content.lead}>No test has failed.</p>
  return (
    <section>
      <h2>Failed</h2>
      <ul className={styles.list} data-frozen-on-hover>
        {tests.map((test) => (
          <FailedTest key={test.id} test={test} />
        ))}
      </ul>
      <ShowMore list={list} />
    </section>
  )
}
