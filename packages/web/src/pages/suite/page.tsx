import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { suiteQuery } from '../../api/resource-queries.ts'
import { LinkButton } from '../../parts/Button.tsx'
import { Page } from '../../parts/Page.tsx'
import { SearchBox } from '../../parts/SearchBox.tsx'
import { StateBadge } from '../../parts/state-badge/StateBadge.tsx'
import { Empty, NotLoaded, ShowMore } from '../../parts/States.tsx'
import { Table } from '../../parts/Table.tsx'
import { TimeOrNever } from '../../parts/time/Time.tsx'
import { ViewLinks } from '../../parts/views/ViewLinks.tsx'
import { shownSeconds, shownShare } from './figures.ts'
import { mutedQuery, skippedQuery, testsQuery, type SuiteAddress } from './queries.ts'
import { views, type View } from './search.ts'
import { TestName } from './TestName.tsx'

const from = '/organizations/$org/analytics/suites/$suite'

export function SuitePage() {
  const address = useParams({ from })
  const { list: view = 'slowest', q = '' } = useSearch({ from })
  const navigate = useNavigate({ from })
  const suite = useQuery(suiteQuery(address.org, address.suite))
  if (suite.data === undefined) return <NotLoaded query={suite} />
  return (
    <Page
      title={suite.data.name}
      subtitle="Figures are those of the last 7 days."
      actions={
        suite.data.viewer?.may.manage === true && (
          <LinkButton to="/organizations/$org/analytics/suites/$suite/settings" params={address}>
            Settings
          </LinkButton>
        )
      }
    >
      <ViewLinks label="Lists">
        {Object.entries(views).map(([name, title]) => (
          <Link
            key={name}
            to={from}
            params={address}
            search={{ list: name as View }}
            aria-current={name === view ? 'page' : undefined}
          >
            {title}
          </Link>
        ))}
      </ViewLinks>
      {view === 'quarantined' ? (
        <Quarantined address={address} />
      ) : (
        <>
          <SearchBox
            label="Find a test"
            text={q}
            onSearch={(text) =>
              void navigate({ search: { list: view, ...(text === '' ? {} : { q: text }) }, replace: true })
            }
          />
          <Tests address={address} view={view} q={q} />
        </>
      )}
    </Page>
  )
}

interface TestsProps {
  address: SuiteAddress
  view: Exclude<View, 'quarantined'>
  q: string
}

const none = {
  slowest: 'No test ran in the last 7 days.',
  flaky: 'No test is flaky.',
  failing: 'No test failed in the last 7 days.',
}

function Tests({ address, view, q }: TestsProps) {
  const list = useInfiniteQuery(testsQuery(address, view, q))
  const tests = list.data?.pages.flatMap(({ rows }) => rows)
  if (tests === undefined) return <NotLoaded query={list} />
  if (tests.length === 0) return <Empty title={q === '' ? none[view] : 'No test is found.'} />
  return (
    <>
      <Table
        label={views[view]}
        rows={tests}
        columns={[
          { head: 'Test', render: (test) => <TestName address={address} test={test} /> },
          {
            head: 'State',
            look: 'optional',
            render: ({ state }) => <StateBadge kind="test" state={state} isQuiet />,
          },
          { head: 'Owner', look: 'aside', render: ({ owner }) => owner ?? '–' },
          { head: 'Passes', look: 'number', render: ({ reliability }) => shownShare(reliability) },
          { head: 'Takes', look: 'number', render: ({ duration_avg: seconds }) => shownSeconds(seconds) },
          { head: 'p95', look: 'aside-number', render: ({ duration_p95: seconds }) => shownSeconds(seconds) },
          {
            head: 'Runs',
            look: 'aside-number',
            render: ({ executions_count: count }) => count.toLocaleString(),
          },
          { head: 'Failed last', look: 'aside', render: ({ last_failed_on: day }) => day ?? '–' },
        ]}
      />
      <ShowMore list={list} />
    </>
  )
}

function Quarantined({ address }: { address: SuiteAddress }) {
  const muted = useQuery(mutedQuery(address))
  const skipped = useQuery(skippedQuery(address))
  if (muted.data === undefined) return <NotLoaded query={muted} />
  if (skipped.data === undefined) return <NotLoaded query={skipped} />
  const tests = [...muted.data, ...skipped.data]
  if (tests.length === 0) return <Empty title="No test is muted or skipped." />
  return (
    <Table
      label={views.quarantined}
      rows={tests}
      columns={[
        { head: 'Test', render: (test) => <TestName address={address} test={test} /> },
        { head: 'State', render: ({ state }) => <StateBadge kind="test" state={state} /> },
        { head: 'Repairs', render: ({ quarantine }) => quarantine?.owner?.name ?? 'Nobody' },
        { head: 'By', look: 'optional', render: ({ quarantine }) => quarantine?.by?.name ?? 'A rule' },
        { head: 'Reason', look: 'aside', render: ({ quarantine }) => quarantine?.reason ?? '–' },
        { head: 'Ends', render: ({ quarantine }) => <TimeOrNever at={quarantine?.expires_at ?? null} /> },
      ]}
    />
  )
}
