import { queryOptions } from '@tanstack/react-query'
import { call } from '../../api/call.ts'
import { keyOf, listQuery, query, queryClient } from '../../api/queries.ts'
import type { Watched } from '../../api/live-wants.ts'
import { JobTable } from '../../graph/jobs/job-table.ts'

export interface BuildPlace {
  org: string
  pipeline: string
  number: string
}

export interface JobPlace extends BuildPlace {
  job: string
}

const build = '/v2/organizations/{org}/pipelines/{pipeline}/builds/{build}' as const
const job = `${build}/jobs/{job}` as const

export const paramsOf = ({ org, pipeline, number }: BuildPlace) => ({ org, pipeline, build: number })
export const jobParamsOf = (place: JobPlace) => ({ ...paramsOf(place), job: place.job })

export const buildQuery = (place: BuildPlace) =>
  query(`GET ${build}`, {
    params: paramsOf(place),
    query: { exclude_jobs: true, exclude_pipeline: true },
  })

export const failureSummaryQuery = (place: BuildPlace) =>
  query(`GET ${build}/failure_summary`, { params: paramsOf(place), query: { max_jobs: 20 } })

export interface LoadedGraph {
  table: JobTable
  watched: Watched
}

/** The jobs of the build. The table stays the same one, so that views keep their place when it is fetched again. */
export const graphQuery = (place: BuildPlace) => {
  const queryKey = keyOf(`GET ${build}/graph`, { params: paramsOf(place) })
  return queryOptions({
    queryKey,
    queryFn: async ({ signal }): Promise<LoadedGraph> => {
      const table = queryClient.getQueryData<LoadedGraph>(queryKey)?.table ?? new JobTable()
      const finish = table.beginLoad()
      const sinceMs = Date.now()
      const graph = await call(`GET ${build}/graph`, { params: paramsOf(place), signal })
      finish(graph)
      return { table, watched: { id: graph.build.id, cursor: graph.cursor, sinceMs } }
    },
    structuralSharing: false,
    // The event stream tells what changes.
    staleTime: 60_000,
  })
}

export const pipelineQuery = ({ org, pipeline }: BuildPlace) =>
  query('GET /v2/organizations/{org}/pipelines/{pipeline}', {
    params: { org, pipeline },
    query: { include_viewer: true },
  })

/** The newest build of the pipeline, which has the highest number. */
export const newestBuildQuery = ({ org, pipeline }: BuildPlace) =>
  query('GET /v2/organizations/{org}/pipelines/{pipeline}/builds', {
    params: { org, pipeline },
    query: { per_page: 1, exclude_jobs: true, exclude_pipeline: true },
  })

export const annotationsQuery = (place: BuildPlace) =>
  listQuery(`GET ${build}/annotations`, { params: paramsOf(place), query: { per_page: 100 } })

/** Without the texts, which may be long. */
export const annotationCountQuery = (place: BuildPlace) =>
  listQuery(`GET ${build}/annotations`, {
    params: paramsOf(place),
    query: { per_page: 100, omit_body: true },
  })

export const artifactsQuery = (place: BuildPlace, path?: string) =>
  listQuery(`GET ${build}/artifacts`, {
    params: paramsOf(place),
    query: { per_page: 100, ...(path === undefined ? {} : { path }) },
  })

export const testRunsQuery = (place: BuildPlace) =>
  listQuery(`GET ${build}/test_runs`, { params: paramsOf(place), query: { per_page: 100 } })

export const failedTestsQuery = (org: string, build_uuid: string) =>
  listQuery('GET /v2/analytics/organizations/{org}/builds/{build_uuid}/tests', {
    params: { org, build_uuid },
    query: { result: 'failed', include: 'latest_fail', per_page: 100 },
  })

export const stepUploadsQuery = (place: BuildPlace) =>
  query(`GET ${build}/step-uploads`, { params: paramsOf(place), query: { per_page: 100 } })

export const deliveriesQuery = (place: BuildPlace) =>
  listQuery(`GET ${build}/deliveries`, { params: paramsOf(place), query: { per_page: 100 } })

export const commitStatusesQuery = (place: BuildPlace) =>
  listQuery(`GET ${build}/commit-statuses`, { params: paramsOf(place), query: { per_page: 100 } })

/** A job that changed its state is another answer. */
export const jobQuery = (place: JobPlace, state: string) => {
  const params = jobParamsOf(place)
  return queryOptions({
    queryKey: [...keyOf(`GET ${job}`, { params }), state],
    queryFn: ({ signal }) => call(`GET ${job}`, { params, signal }),
  })
}

export const waitingQuery = (place: JobPlace, state: string) => {
  const params = jobParamsOf(place)
  return queryOptions({
    queryKey: [...keyOf(`GET ${job}/waiting`, { params }), state],
    queryFn: ({ signal }) => call(`GET ${job}/waiting`, { params, signal }),
    refetchInterval: 5000,
  })
}

export const jobArtifactsQuery = (place: JobPlace) =>
  listQuery(`GET ${job}/artifacts`, { params: jobParamsOf(place), query: { per_page: 100 } })

export const jobEnvironmentQuery = (place: JobPlace) =>
  query(`GET ${job}/env`, { params: jobParamsOf(place) })
