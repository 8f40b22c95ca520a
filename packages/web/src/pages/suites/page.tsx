import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../parts/Button.tsx'
import { showLabel } from '../../parts/labels.ts'
import { Mark } from '../../parts/mark/Mark.tsx'
import { Page } from '../../parts/Page.tsx'
import { Empty, NotLoaded, ShowMore } from '../../parts/States.tsx'
import { Table } from '../../parts/Table.tsx'
import { Time } from '../../parts/time/Time.tsx'
import { organizationQuery } from '../../shell/queries.ts'
import { NewSuiteDialog } from './NewSuiteDialog.tsx'
import { suitesQuery } from './queries.ts'

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
      subtitle="A suite has the results of the tests of a pipeline, or of a test collector."
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
            { head: 'Default branch', look: 'muted', render: ({ default_branch: branch }) => branch },
            { head: 'Created', look: 'aside', render: ({ created_at: at }) => <Time at={at} /> },
          ]}
        />
      )}
      <ShowMore list={list} />
      {isNewOpen && <NewSuiteDialog org={org} onClose={() => setNewOpen(false)} />}
    </Page>
  )
}
