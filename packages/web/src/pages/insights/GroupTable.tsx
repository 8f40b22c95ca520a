import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { showLabel } from '../../parts/labels.ts'
import { Table, type Column } from '../../parts/Table.tsx'
import { formatDuration } from '../../parts/time/durations.ts'
import { JobBars } from './JobBars.tsx'
import { showSeconds, unitName } from './Totals.tsx'
import { nameOf, showMoney, showShare, type Insights } from './words.ts'

interface Props {
  org: string
  insights: Insights
}

export function GroupTable({ org, insights }: Props) {
  const { groups, group_by: groupBy, currency, from, to, unit_seconds: unit } = insights
  const rows = groups.map((group) => ({ ...group, group, id: group.id ?? 'rest' }))
  type Row = (typeof rows)[number]
  const ofQueues: ReadonlyArray<Column<Row>> =
    groupBy === 'queue'
      ? [
          {
            head: 'Agents busy',
            look: 'number',
            titleOf: ({ load }) =>
              load === null ? undefined : `On average ${load.busy} of ${load.connected} agents`,
            render: ({ load }) =>
              load === null || load.utilization === null ? '–' : showShare(load.utilization, 1),
          },
        ]
      : []
  const columns: ReadonlyArray<Column<Row>> = [
    { head: 'Name', render: ({ group }) => linked(org, insights, group) },
    {
      head: 'Jobs by time',
      look: 'optional',
      titleOf: ({ points }) =>
        `At most ${Math.max(0, ...points.map(([, jobs = 0]) => jobs)).toLocaleString()} in one ${unitName(unit)}`,
      render: ({ points }) => (
        <JobBars
          bars={points.map(([ms = 0, jobs = 0, failures = 0]) => ({ ms, jobs, failures }))}
          fromMs={Date.parse(from)}
          toMs={Date.parse(to)}
          unitMs={unit * 1000}
        />
      ),
    },
    { head: 'Jobs', look: 'number', render: ({ jobs }) => jobs.toLocaleString() },
    {
      head: 'Failed',
      look: 'number',
      titleOf: ({ failures }) => `${failures} failed`,
      render: ({ failures, jobs }) => showShare(failures, jobs),
    },
    { head: 'Retries', look: 'number', render: ({ retries }) => retries.toLocaleString() },
    {
      head: 'Wait, median',
      look: 'number',
      titleOf: ({ wait_p95_seconds: p95 }) => `95 % waited at most ${showSeconds(p95)}`,
      render: ({ wait_p50_seconds: p50 }) => showSeconds(p50),
    },
    {
      head: 'Run, median',
      look: 'number',
      titleOf: ({ run_p95_seconds: p95 }) => `95 % ran for at most ${showSeconds(p95)}`,
      render: ({ run_p50_seconds: p50 }) => showSeconds(p50),
    },
    { head: 'Time', look: 'number', render: ({ seconds }) => formatDuration(seconds) },
    ...ofQueues,
    { head: 'Cost', look: 'number', render: ({ cost }) => showMoney(cost, currency) },
  ]
  return <Table label="Insights" rows={rows} columns={columns} />
}

/** A queue leads to its page, everything else to the jobs behind it. */
function linked(
  org: string,
  { group_by: groupBy, period }: Insights,
  group: Insights['groups'][number],
): ReactNode {
  const { id, cluster_id: cluster, pipeline } = group
  const name = showLabel(nameOf(group, groupBy))
  if (groupBy === 'queue' && id !== null && cluster !== null)
    return (
      <Link to="/organizations/$org/clusters/$cluster/queues/$queue" params={{ org, cluster, queue: id }}>
        {name}
      </Link>
    )
  if (groupBy === 'pipeline' && pipeline !== null)
    return (
      <Link
        to="/organizations/$org/insights"
        params={{ org }}
        search={{ group: 'step', period, pipeline: pipeline.slug }}
      >
        {name}
      </Link>
    )
  if (groupBy === 'step' && pipeline !== null)
    return (
      <>
        {name}{' '}
        <Link to="/$org/$pipeline" params={{ org, pipeline: pipeline.slug }} className="muted">
          {showLabel(pipeline.name)}
        </Link>
      </>
    )
  return name
}
