import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../parts/Button.tsx'
import { showLabel } from '../../parts/labels.ts'
import { Mark } from '../../parts/mark/Mark.tsx'
import { Page } from '../../parts/Page.tsx'
import { Empty, NotLoaded, ShowMore } from '../../parts/States.tsx'
import { StateBadge } from '../../parts/state-badge/StateBadge.tsx'
import { Table, type Column } from '../../parts/Table.tsx'
import { Time } from '../../parts/time/Time.tsx'
import { organizationQuery } from '../../shell/queries.ts'
import { shownSeconds, shownShare } from '../suite/figures.ts'
import { NewSuiteDialog } from './NewSuiteDialog.tsx'
import { suitesQuery, type ListedSuite } from './queries.ts'

export function SuitesPage() {
  const { org } = useParams({ from: '/organizations/$org/analytics/suites' })
  const list = useInfiniteQuery(suitesQuery(org))
  const suites = list.data?.pages.flatMap(({ rows }) => rows)
  const { data: organization } = useQuery(organizationQuery(org))
  const [isNewOpen, setNewOpen] = useState(false)
  const create = organization?.viewer?.may.administer === true && (
    <Button isWrite kind="primary" icon="plus" onClick={() => setNewOpen(true)}>
      New suite
    </Button>
  )
  return (
    <Page
      title="Tests"
      subtitle="A suite has the results of the tests of a pipeline, or of a test collector. Shares and times are those of the last 7 days."
      actions={create}
    >
      {suites === undefined && <NotLoaded query={list} />}
      {suites?.length === 0 && (
        <Empty title="No test suites yet" action={create}>
          A pipeline has one as soon as a step names its files of results in test_results. For results from
          elsewhere, administrators make a suite.
        </Empty>
      )}
      {suites !== undefined && suites.length > 0 && (
        <Table
          label="Test suites"
          rows={suites}
          columns={[
            {
              head: 'Name',
              render: ({ slug, name, emoji, color }) => (
                <>
                  <Mark emoji={emoji} color={color} />{' '}
                  <Link to="/organizations/$org/analytics/suites/$suite" params={{ org, suite: slug }}>
                    {showLabel(name)}
                  </Link>
                </>
              ),
            },
            { head: 'Last run', render: (suite) => <LastRun suite={suite} /> },
            number('Tests', ({ tests_count: count }) => count.toLocaleString()),
            number('Flaky', ({ flaky_count: count }) => count.toLocaleString()),
            number('Muted', ({ muted_count: count }) => count.toLocaleString()),
            number('Skipped', ({ skipped_count: count }) => count.toLocaleString()),
            number('Passes', ({ reliability }) => shownShare(reliability)),
            number('Takes', ({ duration_p50: seconds }) => shownSeconds(seconds)),
          ]}
        />
      )}
      <ShowMore list={list} />
      {isNewOpen && <NewSuiteDialog org={org} onClose={() => setNewOpen(false)} />}
    </Page>
  )
}

type Figures = NonNullable<ListedSuite['figures']>

const number = (head: string, show: (figures: Figures) => string): Column<ListedSuite> => ({
  head,
  look: 'number',
  render: ({ figures }) => (figures === undefined ? '' : show(figures)),
})

const states = { passed: 'passed', failed: 'failed', pending: 'running', stale: 'not_run' } as const

function LastRun({ suite: { figures, default_branch: main } }: { suite: ListedSuite }) {
  const run = figures?.last_run
  if (run === undefined || run === null) return <span className="muted">Never</span>
  return (
    <>
      <StateBadge kind="build" state={states[run.result]} isQuiet />{' '}
      <span className="muted">
        <Time at={run.created_at} />
        {run.branch !== null && run.branch !== main && `, ${run.branch}`}
      </span>
    </>
  )
}
