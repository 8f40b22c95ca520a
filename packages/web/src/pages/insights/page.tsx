import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { download } from '../../api/downloads.ts'
import { Button, LinkButton } from '../../parts/Button.tsx'
import { SelectField } from '../../parts/Field.tsx'
import { Page } from '../../parts/Page.tsx'
import { Empty, NotLoaded } from '../../parts/States.tsx'
import { showFailure } from '../../parts/toasts/toasts.ts'
import { Chip } from '../builds/FilterBar.tsx'
import { Budgets } from './budgets/Budgets.tsx'
import { GroupTable } from './GroupTable.tsx'
import { csvAddress, insightsQuery, mostGroups } from './queries.ts'
import type { InsightSearch } from './search.ts'
import { SlowerSteps } from './SlowerSteps.tsx'
import { Totals } from './Totals.tsx'
import { groupNames, periodNames, sortNames, type GroupBy, type Period, type Sort } from './words.ts'
import styles from './Insights.module.css'

export function InsightsPage() {
  const { org } = useParams({ from: '/organizations/$org/insights' })
  const search = useSearch({ from: '/organizations/$org/insights' })
  const state = useQuery(insightsQuery(org, search))
  const insights = state.data
  const navigate = useNavigate({ from: '/organizations/$org/insights' })
  const { pipeline, queue, ...unfiltered } = search
  const isFiltered = pipeline !== undefined || queue !== undefined
  const clearFilters = () => void navigate({ search: unfiltered })
  const isEmpty = insights?.total.jobs === 0 && insights.groups.length === 0
  return (
    <Page
      title="Insight"
      subtitle="What jobs wait for, which fail, and where the minutes and the money go."
      actions={
        <>
          <LinkButton to="." search={search} hash="budgets">
            Budgets
          </LinkButton>
          <Button
            icon="download"
            onClick={() => void download(csvAddress(org, search), `insights-${org}.csv`).catch(showFailure)}
          >
            Download as CSV
          </Button>
        </>
      }
    >
      <Choices search={search} />
      {insights === undefined && <NotLoaded query={state} />}
      {isEmpty && isFiltered && (
        <Empty
          title="No job that matches these filters has ended in this time"
          action={<Button onClick={clearFilters}>Clear filters</Button>}
        />
      )}
      {isEmpty && !isFiltered && (
        <Empty title="No job has ended in this time">
          Some seconds after a job has ended, this page shows how long it waited and ran, whether it failed,
          and what it cost by the price of its queue. Choose a longer time to see older jobs.
        </Empty>
      )}
      {insights !== undefined && !isEmpty && (
        <>
          <Totals insights={insights} />
          <GroupTable org={org} insights={insights} />
          {insights.groups.length === mostGroups && (
            <p className="muted">These are the {mostGroups} highest. The CSV has all.</p>
          )}
          <SlowerSteps org={org} />
        </>
      )}
      <Budgets org={org} />
    </Page>
  )
}

function Choices({ search }: { search: InsightSearch }) {
  const navigate = useNavigate({ from: '/organizations/$org/insights' })
  const change = (next: InsightSearch) => void navigate({ search: { ...search, ...next } })
  const without = (name: keyof InsightSearch) =>
    void navigate({
      search: Object.fromEntries(Object.entries(search).filter(([each]) => each !== name)),
    })
  return (
    <div className={styles.choices}>
      <div role="group" aria-label="Time" className={styles.chips}>
        {Object.entries(periodNames).map(([period, name]) => (
          <Chip
            key={period}
            label={name}
            isOn={(search.period ?? '24h') === period}
            onClick={() => change({ period: period as Period })}
          />
        ))}
      </div>
      <div role="group" aria-label="Grouped by" className={styles.chips}>
        {Object.entries(groupNames).map(([group, name]) => (
          <Chip
            key={group}
            label={name}
            isOn={(search.group ?? 'pipeline') === group}
            onClick={() => change({ group: group as GroupBy })}
          />
        ))}
      </div>
      {(search.pipeline !== undefined || search.queue !== undefined) && (
        <div role="group" aria-label="Only" className={styles.chips}>
          {search.pipeline !== undefined && (
            <Chip label={`Pipeline ${search.pipeline} ×`} isOn onClick={() => without('pipeline')} />
          )}
          {search.queue !== undefined && <Chip label="One queue ×" isOn onClick={() => without('queue')} />}
        </div>
      )}
      <SelectField
        label="Highest first"
        isBeside
        value={search.sort ?? 'cost'}
        onValue={(sort) => change({ sort: sort as Sort })}
      >
        {Object.entries(sortNames).map(([sort, name]) => (
          <option key={sort} value={sort}>
            {name}
          </option>
        ))}
      </SelectField>
    </div>
  )
}
