import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { annotationAnchor } from '../../api/addresses.ts'
import { Button } from '../../parts/Button.tsx'
import { Icon } from '../../parts/Icon.tsx'
import { showLabel } from '../../parts/labels.ts'
import { useListKeys } from '../../parts/list-keys.ts'
import { StateBadge } from '../../parts/state-badge/StateBadge.tsx'
import { Empty, Problem } from '../../parts/States.tsx'
import { Time } from '../../parts/time/Time.tsx'
import { progressText, type FoundBuild, type Hit } from './found.ts'
import type { LogSearch } from './search.ts'
import { useLogSearch } from './use-log-search.ts'
import styles from './Results.module.css'

interface Props {
  org: string
  search: LogSearch
  /** Searches whole logs for the same. */
  onSearchAll: () => void
}

export function Results({ org, search, onSearchAll }: Props) {
  const { builds, count, progress, status, error, cursor, stop, goOn } = useLogSearch(org, search)
  useListKeys()
  const isFailures = search.in !== 'logs'
  const isRunning = status === 'running'
  return (
    <>
      <div className={styles.status}>
        <p role="status" className={styles.progress}>
          {count === 1 ? '1 row' : `${count} rows`}
          {progress !== null && `, ${progressText(progress, isFailures)}`}
          {status === 'stopped' && ', stopped'}
        </p>
        {isRunning && (
          <Button icon="circle-stop" onClick={stop}>
            Stop
          </Button>
        )}
        {!isRunning && cursor !== null && <Button onClick={goOn}>Search further</Button>}
        {!isRunning && isFailures && <Button onClick={onSearchAll}>Search whole logs</Button>}
      </div>
      {error !== null && <Problem error={error} />}
      {status === 'ended' && error === null && count === 0 && cursor === null && (
        <Empty title="No row has been found.">
          {isFailures
            ? 'Only what failed jobs said in the last weeks was searched.'
            : 'Change the text or the filters.'}
        </Empty>
      )}
      {builds.map((found) => (
        <Build key={found.build.id} org={org} found={found} />
      ))}
    </>
  )
}

function Build({ org, found: { build, jobs } }: { org: string; found: FoundBuild }) {
  const params = { org, pipeline: build.pipeline_slug, number: String(build.number) }
  return (
    <section className={`card ${styles.build}`}>
      <h2 className={styles.heading}>
        <Link to="/$org/$pipeline/builds/$number" params={params}>
          {build.pipeline_slug} #{build.number}
        </Link>
        <span className={`truncated ${styles.branch}`}>{showLabel(build.branch)}</span>
        <Time at={build.created_at} />
      </h2>
      {jobs.map(({ job, hits }) => (
        <div key={job.id}>
          <h3 className={styles.job}>
            <StateBadge kind="job" state={job.state} isQuiet={job.state === 'passed'} />
            <span className="truncated">{showLabel(job.name ?? job.step_key ?? 'Job')}</span>
          </h3>
          <ul className={styles.rows}>
            {hits.map((hit) => (
              <li key={keyOf(hit)} data-list-row>
                <PlaceLink org={org} hit={hit}>
                  <Place hit={hit} />
                  <Marked hit={hit} />
                </PlaceLink>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </section>
  )
}

const keyOf = ({ row, annotation, test, text }: Hit) =>
  row === null ? `${annotation?.id ?? test?.id ?? ''} ${text}` : row

function PlaceLink({ org, hit, children }: { org: string; hit: Hit; children: ReactNode }) {
  const { build, job, row, annotation, test } = hit
  const ofBuild = {
    to: '/$org/$pipeline/builds/$number',
    params: { org, pipeline: build.pipeline_slug, number: String(build.number) },
    className: styles.row,
  } as const
  if (row !== null)
    return (
      <Link {...ofBuild} hash={`${job.id}/L${row}`}>
        {children}
      </Link>
    )
  if (annotation !== null)
    return (
      <Link {...ofBuild} search={{ tab: 'annotations' }} hash={annotationAnchor(annotation.id)}>
        {children}
      </Link>
    )
  if (test === null || test.suite_slug === null)
    return (
      <Link {...ofBuild} search={{ tab: 'tests' }}>
        {children}
      </Link>
    )
  return (
    <Link
      to="/organizations/$org/analytics/suites/$suite/tests/$test"
      params={{ org, suite: test.suite_slug, test: test.id }}
      className={styles.row}
    >
      {children}
    </Link>
  )
}

function Place({ hit: { row, annotation, test } }: { hit: Hit }) {
  if (row !== null) return <span className={styles.number}>{row}</span>
  const [kind, name] =
    annotation === null ? ['Test failure', test?.name ?? ''] : ['Annotation', annotation.context]
  return (
    <span className={styles.place} title={name}>
      <Icon name={annotation === null ? 'circle-x' : 'message-square'} />
      {kind}
    </span>
  )
}

const Marked = ({ hit: { text, start, end } }: { hit: Hit }) => (
  <span className={styles.text}>
    {text.slice(0, start)}
    <mark className={styles.mark}>{text.slice(start, end)}</mark>
    {text.slice(end)}
  </span>
)
