import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { keyOf } from '../../api/queries.ts'
import { suiteQuery, testName, testQuery, type TestAddress } from '../../api/resource-queries.ts'
import { Button } from '../../parts/Button.tsx'
import { Facts } from '../../parts/Facts.tsx'
import { Page } from '../../parts/Page.tsx'
import { StateBadge, StateIcon } from '../../parts/state-badge/StateBadge.tsx'
import { Empty, NotLoaded } from '../../parts/States.tsx'
import { Table } from '../../parts/Table.tsx'
import { Time, TimeOrNever } from '../../parts/time/Time.tsx'
import { showFailure } from '../../parts/toasts/toasts.ts'
import { shownSeconds, shownShare } from '../suite/figures.ts'
import type { KnownTest } from '../suite/queries.ts'
import { groupFailures } from './group-failures.ts'
import { QuarantineDialog } from './QuarantineDialog.tsx'
import { enable, executionsQuery, type Execution } from './queries.ts'
import styles from './Test.module.css'

export function TestPage() {
  const address = useParams({ from: '/organizations/$org/analytics/suites/$suite/tests/$test' })
  const test = useQuery(testQuery(address))
  const executions = useQuery(executionsQuery(address))
  if (test.data === undefined) return <NotLoaded query={test} />
  return (
    <Page title={testName(test.data)} actions={<Actions address={address} test={test.data} />}>
      <Facts isFramed facts={factsOf(test.data)} />
      {executions.data === undefined ? (
        <NotLoaded query={executions} />
      ) : (
        <History org={address.org} executions={executions.data} />
      )}
    </Page>
  )
}

const factsOf = (test: KnownTest) =>
  [
    ['State', <StateBadge key="state" kind="test" state={test.state} />],
    ['Reason', test.quarantine?.reason],
    ['Repairs', test.quarantine?.owner?.name],
    ['Ends', test.quarantine && <TimeOrNever key="ends" at={test.quarantine.expires_at} />],
    ['Labels', test.labels.length === 0 ? null : test.labels.join(', ')],
    ['Owner', test.owner],
    ['Location', test.location],
    ['Passes', `${shownShare(test.reliability)} of ${test.executions_count.toLocaleString()} in 7 days`],
    [
      'Takes',
      `${shownSeconds(test.duration_p50)} at the median, ${shownSeconds(test.duration_p95)} at the 95th percentile`,
    ],
    ['First seen', <Time key="first" at={test.first_seen_at} />],
  ] as const

function Actions({ address, test }: { address: TestAddress; test: KnownTest }) {
  const queryClient = useQueryClient()
  const { data: suite } = useQuery(suiteQuery(address.org, address.suite))
  const [verb, setVerb] = useState<'mute' | 'skip' | null>(null)
  const reload = async () => {
    await queryClient.invalidateQueries({ queryKey: testQuery(address).queryKey })
    await queryClient.invalidateQueries({
      queryKey: keyOf('GET /v2/organizations/{org}/suites/{suite}/tests/muted'),
    })
    await queryClient.invalidateQueries({
      queryKey: keyOf('GET /v2/organizations/{org}/suites/{suite}/tests/skipped'),
    })
  }
  const enabling = useMutation({
    async mutationFn() {
      await enable(address)
      await reload()
    },
    onError: showFailure,
  })
  if (suite?.viewer?.may.quarantine !== true) return null
  return (
    <>
      {test.state !== 'enabled' && (
        <Button isWrite isBusy={enabling.isPending} onClick={() => enabling.mutate()}>
          Enable
        </Button>
      )}
      {test.state !== 'muted' && (
        <Button isWrite onClick={() => setVerb('mute')}>
          Mute…
        </Button>
      )}
      {test.state !== 'skipped' && (
        <Button isWrite onClick={() => setVerb('skip')}>
          Skip…
        </Button>
      )}
      {verb !== null && (
        <QuarantineDialog address={address} verb={verb} onDone={reload} onClose={() => setVerb(null)} />
      )}
    </>
  )
}

const stateOf = ({ result }: Execution) => (result === 'unknown' ? 'not_run' : result)

function History({ org, executions }: { org: string; executions: readonly Execution[] }) {
  if (executions.length === 0) return <Empty title="Nothing is known of its last runs." />
  const failures = groupFailures(executions)
  return (
    <>
      <section className={styles.section}>
        <h2>History</h2>
        <ol className={`card ${styles.strip}`} aria-label="The last runs, oldest first">
          {executions.toReversed().map((one) => (
            <li key={one.id} className={styles.run}>
              <StateIcon kind="build" state={stateOf(one)} />
              <BuildLink org={org} execution={one}>
                {shownSeconds(one.duration)}
              </BuildLink>
            </li>
          ))}
        </ol>
      </section>
      {failures.length > 0 && (
        <section className={styles.section}>
          <h2>Failures</h2>
          <Table
            label="Failures by their message"
            rows={failures}
            columns={[
              { head: 'Message', render: ({ reason }) => reason ?? 'No message' },
              { head: 'Times', look: 'number', render: ({ count }) => count },
              { head: 'Last in', render: ({ last }) => <BuildLink org={org} execution={last} /> },
              { head: 'Last', look: 'muted', render: ({ last }) => <Time at={last.created_at} /> },
            ]}
          />
        </section>
      )}
      <section className={styles.section}>
        <h2>Runs</h2>
        <Table
          label="Runs"
          rows={executions}
          columns={[
            { head: 'Result', render: (one) => <StateBadge kind="build" state={stateOf(one)} isQuiet /> },
            { head: 'Build', render: (one) => <BuildLink org={org} execution={one} /> },
            { head: 'Branch', look: 'aside', render: ({ branch }) => branch ?? '–' },
            { head: 'Took', look: 'number', render: ({ duration }) => shownSeconds(duration) },
            { head: 'When', look: 'muted', render: ({ created_at: at }) => <Time at={at} /> },
          ]}
        />
      </section>
    </>
  )
}

interface BuildLinkProps {
  org: string
  execution: Pick<Execution, 'build' | 'job_id'>
  /** By default the name of the build. */
  children?: string
}

/** To the job in its build, where it is known. */
function BuildLink({ org, execution: { build, job_id: job }, children }: BuildLinkProps) {
  if (build === null) return <span className="muted">{children ?? '–'}</span>
  const name = `${build.pipeline_slug} #${build.number}`
  return (
    <Link
      to="/$org/$pipeline/builds/$number"
      params={{ org, pipeline: build.pipeline_slug, number: String(build.number) }}
      title={name}
      hash={job ?? ''}
    >
      {children ?? name}
    </Link>
  )
}
