// How long jobs waited and ran, how often they failed and what they cost, in groups.
import type { Insights } from '@millrace/server/wire.ts'
import { openApi, type Api } from '../api.ts'
import type { ClientOptions } from '../command.ts'
import { showText } from '../pager.ts'
import { openStyle } from '../style.ts'
import { renderTable, type Column } from '../table.ts'
import { oneLine } from '../text.ts'
import { describeDuration } from '../times.ts'
import { formatAmount } from './money.ts'

type GroupBy = Insights['group_by']
type Group = Insights['groups'][number]

export interface InsightsOptions extends ClientOptions {
  groupBy: GroupBy
  period: Insights['period']
  sort: string
  pipeline: readonly string[]
  limit: number
  csv?: true
}

export async function showInsights(options: InsightsOptions): Promise<void> {
  const api = await openApi(options)
  const { groupBy, period, sort, limit } = options
  const query = new URLSearchParams({ group_by: groupBy, period, sort })
  for (const slug of options.pipeline) query.append('pipeline', slug)
  if (options.csv) {
    const response = await api.stream(`insights.csv?${query.toString()}`)
    process.stdout.write(await response.text())
    return
  }
  query.set('per_page', String(limit))
  const insights = await api.get<Insights>(`insights?${query.toString()}`)
  if (options.json) {
    console.log(JSON.stringify(insights))
    return
  }
  if (insights.groups.length === 0) {
    console.error(await nothingToShow(api, options))
    return
  }
  await showText(tableOf(insights, options))
  if (insights.groups.length === limit)
    console.error(`The first ${limit}: --limit shows up to 100, and --csv all.`)
}

/** A mistyped pipeline is refused by the server. */
async function nothingToShow(api: Api, { period, pipeline }: InsightsOptions): Promise<string> {
  for (const slug of pipeline) await api.get(`pipelines/${encodeURIComponent(slug)}`)
  const whose = pipeline.length === 0 ? api.org : pipeline.map(oneLine).join(', ')
  const way = period === '30d' ? '' : ' Choose a longer one: --period 30d.'
  return `No job of ${whose} that you may see ended in the last ${period}.${way}`
}

type Row = Omit<Group, 'points'> & { label: string }

function tableOf(insights: Insights, options: ClientOptions): string {
  const { group_by: groupBy, currency, total, groups } = insights
  const rows: Row[] = [
    ...groups.map((group) => ({ ...group, label: labelOf(group, groupBy) })),
    { ...total, id: null, name: null, pipeline: null, cluster_id: null, load: null, label: 'All jobs' },
  ]
  const columns: ReadonlyArray<Column<Row>> = [
    { title: groupBy, text: ({ label }) => label, least: 12 },
    ...(groupBy === 'step' ? ofSteps : []),
    { title: 'Jobs', text: ({ jobs }) => jobs, align: 'right' },
    { title: 'Failed', text: ({ failures }) => failures, align: 'right' },
    { title: 'Retries', text: ({ retries }) => retries, align: 'right' },
    seconds('Wait p50', 'wait_p50_seconds'),
    seconds('Wait p95', 'wait_p95_seconds'),
    seconds('Run p50', 'run_p50_seconds'),
    seconds('Run p95', 'run_p95_seconds'),
    ...(groupBy === 'queue' ? ofQueues : []),
    seconds('Time', 'seconds'),
    { title: `Cost ${currency}`, text: ({ cost }) => formatAmount(cost), align: 'right' },
  ]
  return renderTable(columns, rows, { style: openStyle(options) })
}

type Duration = 'wait_p50_seconds' | 'wait_p95_seconds' | 'run_p50_seconds' | 'run_p95_seconds' | 'seconds'

const seconds = (title: string, field: Duration): Column<Row> => ({
  title,
  text: ({ [field]: value }) => (value === null ? null : describeDuration(value * 1000)),
  align: 'right',
})

const ofSteps: ReadonlyArray<Column<Row>> = [
  { title: 'Pipeline', text: ({ pipeline }) => pipeline?.slug ?? null, least: 8 },
]

const ofQueues: ReadonlyArray<Column<Row>> = [
  { title: 'Waiting', text: ({ load }) => load && tenths(load.waiting), align: 'right' },
  { title: 'Running', text: ({ load }) => load && tenths(load.running), align: 'right' },
  {
    title: 'Busy agents',
    text: ({ load }) => load && `${tenths(load.busy)} of ${tenths(load.connected)}`,
    align: 'right',
  },
  {
    title: 'Utilization',
    text: ({ load }) =>
      load === null || load.utilization === null ? null : `${Math.round(load.utilization * 100)} %`,
    align: 'right',
  },
]

const tenths = (value: number): string => String(Math.round(value * 10) / 10)

const withoutId: Readonly<Record<GroupBy, string>> = {
  pipeline: 'Others',
  queue: 'Without a queue',
  team: 'Without a team',
  creator: 'Nobody known, or others',
  step: 'All other steps',
}

const withoutName: Readonly<Record<GroupBy, string>> = {
  pipeline: 'A deleted pipeline',
  queue: 'A deleted queue',
  team: 'A deleted team',
  creator: 'Somebody who is gone',
  step: 'A step',
}

const labelOf = ({ id, name }: Group, groupBy: GroupBy): string =>
  id === null ? withoutId[groupBy] : name || withoutName[groupBy]
