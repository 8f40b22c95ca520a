// Why the build failed, in one answer of the server.
import { showLabel } from '../../../parts/labels.ts'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Fragment } from 'react'
import type { BuildAddress } from '../../../api/addresses.ts'
import type { Schemas } from '../../../api/operations.ts'
import { selectOnClick } from '../../../graph/view.ts'
import { Runs } from '../../../log/rows/Runs.tsx'
import { Icon } from '../../../parts/Icon.tsx'
import { StateBadge, StateIcon } from '../../../parts/state-badge/StateBadge.tsx'
import { Empty, NotLoaded } from '../../../parts/States.tsx'
import { Time } from '../../../parts/time/Time.tsx'
import { groupFailures, longestPart } from './group-failures.ts'
import { failureSummaryQuery } from '../queries.ts'
import type { Selection } from '../selection.ts'
import content from '../Content.module.css'
import styles from './RowList.module.css'

type Summary = Schemas['FailureSummary']
type FailedJob = Summary['jobs'][number]

interface Props {
  address: BuildAddress
  isRunning: boolean
  selection: Selection
}

export function Failures({ address, isRunning, selection }: Props) {
  const query = useQuery({ ...failureSummaryQuery(address), refetchInterval: isRunning ? 10_000 : false })
  if (query.data === undefined) return <NotLoaded query={query} />
  const { jobs, tests, counts, first_bad: range, truncated } = query.data
  if (jobs.length + tests.length + counts.error_annotations === 0) {
    return <Empty title="Nothing has failed">Failed jobs and tests are listed here with their reasons.</Empty>
  }
  return (
    <div className={content.stack}>
      {range !== null && <FirstBad range={range} />}
      {jobs.length > 0 && (
        <section>
          <h2>Jobs</h2>
          <ul className={styles.list} data-frozen-on-hover>
            {groupFailures(jobs).map(({ first, others }) => (
              <Failure key={first.id} org={address.org} job={first} others={others} selection={selection} />
            ))}
          </ul>
        </section>
      )}
      {tests.length > 0 && <FailedTests org={address.org} tests={tests} />}
      {counts.error_annotations > 0 && (
        <Link to="." search={(before) => ({ ...before, tab: 'annotations' as const })} hash>
          {countOf(counts.error_annotations, 'annotation')} with errors
        </Link>
      )}
      {truncated !== null && <LeftOut truncated={truncated} />}
    </div>
  )
}

const FirstBad = ({ range }: { range: NonNullable<Summary['first_bad']> }) => (
  <p className={content.lead}>
    Passed until <a href={range.last_passed.web_url}>#{range.last_passed.number}</a>, fails since{' '}
    <a href={range.first_failed.web_url}>#{range.first_failed.number}</a>
    {range.commits !== null && (
      <>
        : <code>git log {range.commits}</code>
      </>
    )}
  </p>
)

interface FailureProps {
  org: string
  job: FailedJob
  /** Those that failed alike. */
  others: readonly FailedJob[]
  selection: Selection
}

function Failure({ org, job, others, selection }: FailureProps) {
  const { log } = job
  const name = nameOf(job)
  const row = log.failing_row
  const lines = row === null ? null : { from: row, to: row }
  const shownAt = log.rows.findIndex((each) => each.row !== null && each.row === row)
  const failingAt = shownAt === -1 ? log.rows.length : shownAt
  return (
    <li className={styles.row}>
      <StateIcon kind="job" state={job.state} detail={{ softFailed: job.soft_failed }} />
      <a
        className={styles.link}
        href={`#${job.id}${row === null ? '' : `/L${row}`}`}
        onClick={selectOnClick(() => selection.select(job.id, { lines }))}
      >
        {name}
      </a>
      <span className="muted">{reasonOf(job)}</span>
      {job.attempt > 1 && <span className="muted">attempt {job.attempt}</span>}
      {others.length > 0 && (
        <p className={styles.more}>
          {others.length === 1 ? 'Another job' : `${others.length} more jobs`} failed alike:{' '}
          {others.map((other, at) => (
            <Fragment key={other.id}>
              {at > 0 && ', '}
              <a href={`#${other.id}`}>{nameOf(other)}</a>
            </Fragment>
          ))}
        </p>
      )}
      {job.cause !== null && <Elsewhere org={org} cause={job.cause} shown={1 + others.length} />}
      {log.rows.length > 0 && (
        <div className={styles.more}>
          {log.group !== null && <span>{showLabel(log.group)}</span>}
          <pre
            className={styles.text}
            ref={scrollToFailing}
            role="region"
            aria-label={`End of the log of ${name}`}
            // Whoever has no mouse scrolls with the keys.
            // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
            tabIndex={0}
          >
            <ShownRows rows={log.rows} start={0} end={failingAt} />
            <strong className={styles.failing}>
              <ShownRows rows={log.rows} start={failingAt} end={failingAt + 1} />
            </strong>
            <ShownRows rows={log.rows} start={failingAt + 1} end={log.rows.length} />
          </pre>
        </div>
      )}
    </li>
  )
}

interface ElsewhereProps {
  org: string
  cause: NonNullable<FailedJob['cause']>
  /** Jobs of the build that are named above. */
  shown: number
}

/** Where else the same has happened. */
function Elsewhere({ org, cause: { text, jobs, builds, since }, shown }: ElsewhereProps) {
  const left = jobs - shown
  if (left <= 0 && builds === 0) return null
  const q = longestPart(text)
  return (
    <p className={styles.more}>
      {left > 0 && `${countOf(left, 'further job')} of this build failed alike. `}
      {builds > 0 && (
        <>
          Also in {countOf(builds, 'other build')}
          {since !== null && (
            <>
              , the first <Time at={since} />
            </>
          )}
          .{' '}
        </>
      )}
      <Link to="/organizations/$org/log-search" params={{ org }} search={{ q }}>
        Search for it
      </Link>
    </p>
  )
}

const nameOf = ({ name, command, id }: FailedJob) => showLabel(name ?? command ?? id)

function scrollToFailing(text: HTMLPreElement | null): void {
  const failing = text?.querySelector('strong')
  if (text && failing) text.scrollTop = failing.offsetTop - text.offsetTop - text.clientHeight / 2
}

const reasonOf = ({ reason, exit_status: exit, soft_failed: isSoft }: FailedJob): string => {
  const cause = reason ?? (exit === null ? 'failed' : `exit ${exit}`)
  return isSoft ? `${cause}, allowed` : cause
}

type Rows = FailedJob['log']['rows']

const ShownRows = ({ rows, start, end }: { rows: Rows; start: number; end: number }) =>
  rows.slice(start, end).map(({ text, runs = [text] }, index) => (
    // Rows have no identity besides their place.
    // oxlint-disable-next-line react/no-array-index-key
    <Fragment key={index}>
      {hasGap(rows, start + index) && '…\n'}
      <Runs runs={runs} />
      {'\n'}
    </Fragment>
  ))

/** The numbers of the row and of the one before it do not follow each other. */
function hasGap(rows: Rows, index: number): boolean {
  const [before, here] = [rows[index - 1]?.row ?? null, rows[index]?.row ?? null]
  return before !== null && here !== null && here !== before + 1
}

const FailedTests = ({ org, tests }: { org: string; tests: Summary['tests'] }) => (
  <section>
    <h2>Tests</h2>
    <ul className={styles.list}>
      {tests.map((test) => (
        <li key={test.id} className={styles.row}>
          <StateIcon kind="job" state="failed" />
          <span className={styles.name}>
            {test.scope !== '' && <span className="muted">{test.scope} › </span>}
            {test.known ? (
              <Link
                to="/organizations/$org/analytics/suites/$suite/tests/$test"
                params={{ org, suite: test.suite_slug, test: test.id }}
              >
                {test.name}
              </Link>
            ) : (
              test.name
            )}
          </span>
          {!test.known && <span className="muted">only builds of forks have run it</span>}
          {test.quarantine !== null && <StateBadge kind="test" state={test.quarantine} />}
          {test.labels.length > 0 && <span className="muted">{test.labels.join(', ')}</span>}
          {test.flaky && (
            <span className="muted">
              <Icon name="triangle-alert" size={14} /> flaky: it passed with the same commit too
            </span>
          )}
          {test.recent_failures > 0 && (
            <span className="muted">
              failed in {test.recent_failures} of the last 20 runs before this build
            </span>
          )}
          {test.location !== null && <code className={styles.more}>{test.location}</code>}
          {test.failure_reason !== null && <span className={styles.more}>{test.failure_reason}</span>}
        </li>
      ))}
    </ul>
  </section>
)

function LeftOut({ truncated }: { truncated: NonNullable<Summary['truncated']> }) {
  const { jobs, tests, rows } = truncated
  const parts = [
    ...(jobs > 0 ? [countOf(jobs, 'job')] : []),
    ...(tests > 0 ? [countOf(tests, 'test')] : []),
    ...(rows > 0 ? [`${countOf(rows, 'row')} of logs`] : []),
  ]
  return parts.length === 0 ? null : <p className={content.note}>Not shown here: {parts.join(', ')}.</p>
}

const countOf = (count: number, noun: string) => `${count.toLocaleString()} ${noun}${count === 1 ? '' : 's'}`
