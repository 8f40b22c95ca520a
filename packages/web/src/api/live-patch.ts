// Writes changes into the cached answers of the API that show builds.
import type { InfiniteData, QueryClient } from '@tanstack/react-query'
import type { Page } from './call.ts'
import type { ShortBuild } from './live-changes.ts'
import type { Schemas } from './operations.ts'

const oneBuild = 'GET /v2/organizations/{org}/pipelines/{pipeline}/builds/{build}'
const buildLists = new Set([
  'GET /v2/builds',
  'GET /v2/organizations/{org}/builds',
  'GET /v2/organizations/{org}/pipelines/{pipeline}/builds',
])
const trends = 'GET /v2/organizations/{org}/pipeline-trends'

type Build = Schemas['Build']
type Builds = ReadonlyMap<string, ShortBuild>

const timeOf = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString())

function patchBuild<Known extends Pick<Build, 'id'>>(build: Known, changes: Builds): Known {
  const change = changes.get(build.id)
  if (change === undefined) return build
  return {
    ...build,
    state: change.state,
    blocked: change.blocked,
    message: change.message,
    branch: change.branch,
    commit: change.commit,
    started_at: timeOf(change.started_at),
    finished_at: timeOf(change.finished_at),
    worked_before_seconds: change.worked_before_seconds,
  }
}

interface Trend {
  pipeline_id: string
  builds: Array<{ number: number; state: string; blocked: boolean; seconds: number | null }>
}

const mostBars = 30

/** New builds become the last bar. */
export function patchTrend<Known extends Trend>(trend: Known, changes: Builds): Known {
  const own = [...changes.values()].filter(({ pipeline_id }) => pipeline_id === trend.pipeline_id)
  if (own.length === 0) return trend
  const builds = [...trend.builds]
  for (const change of own.sort((a, b) => a.number - b.number)) {
    const at = builds.findIndex(({ number }) => number === change.number)
    if (at !== -1) builds[at] = { ...builds[at], ...barOf(change) }
    else if (change.number > (builds.at(-1)?.number ?? 0)) builds.push(barOf(change))
  }
  return { ...trend, builds: builds.slice(-mostBars) }
}

const barOf = ({
  number,
  state,
  blocked,
  message,
  branch,
  created_at,
  started_at,
  finished_at,
  worked_before_seconds: earlier,
}: ShortBuild) => ({
  number,
  state,
  blocked,
  seconds: started_at === null || finished_at === null ? null : (finished_at - started_at) / 1000 + earlier,
  created_at,
  message,
  branch,
})

type Pages<Row> = InfiniteData<Page<Row>>

/** Works on a plain list and on one of pages. Keeps every row where it is. */
function patchRows<Row>(data: Row[] | Pages<Row>, patch: (row: Row) => Row): Row[] | Pages<Row> {
  if (Array.isArray(data)) return data.map(patch)
  return { ...data, pages: data.pages.map((page) => ({ ...page, rows: page.rows.map(patch) })) }
}

const rowsOf = <Row>(data: Row[] | Pages<Row>): Row[] =>
  Array.isArray(data) ? data : data.pages.flatMap(({ rows }) => rows)

/** Returns true if a list may lack a build, since it is new. */
export function patchBuilds(client: QueryClient, changes: Builds): boolean {
  let hasUnknown = false
  for (const { queryKey, state } of client.getQueryCache().getAll()) {
    const [name] = queryKey
    if (state.data === undefined) continue
    if (name === oneBuild) {
      client.setQueryData<Build>(queryKey, (build) => build && patchBuild(build, changes))
    } else if (typeof name === 'string' && buildLists.has(name)) {
      const known = new Set(rowsOf(state.data as Build[] | Pages<Build>).map(({ id }) => id))
      hasUnknown ||= [...changes.keys()].some((id) => !known.has(id))
      client.setQueryData<Build[] | Pages<Build>>(
        queryKey,
        (data) => data && patchRows(data, (build) => patchBuild(build, changes)),
      )
    } else if (name === trends) {
      client.setQueryData<Trend[] | Pages<Trend>>(
        queryKey,
        (data) => data && patchRows(data, (trend) => patchTrend(trend, changes)),
      )
    }
  }
  return hasUnknown
}

/** The keys of lists that may lack something. */
export const isListOfBuilds = (name: unknown): boolean =>
  typeof name === 'string' && (buildLists.has(name) || name === trends)
