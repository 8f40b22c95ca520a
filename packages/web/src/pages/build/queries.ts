import { queryOptions } from '@tanstack/react-query'
import type { BuildAddress, JobAddress } from '../../api/addresses.ts'
import { call } from '../../api/call.ts'
import { keyOf, listQuery, query, queryClient } from '../../api/queries.ts'
import type { Watched } from '../../api/live-wants.ts'
import { JobTable } from '../../graph/jobs/job-table.ts'
import { namesLoaded } from '../../parts/labels.ts'

const build = '/v2/organizations/{org}/pipelines/{pipeline}/builds/{build}' as const
const job = `${build}/jobs/{job}` as const

export const buildQuery = (params: BuildAddress) =>
  query(`GET ${build}`, { params, query: { exclude_jobs: true, exclude_pipeline: true } })

export const failureSummaryQuery = (params: BuildAddress) =>
  query(`GET ${build}/failure_summary`, { params, query: { max_jobs: 20, styles: true } })

export interface LoadedGraph {
  table: JobTable
  watched: Watched
}

/** The jobs of the build. The table stays the same one, so that views keep their place when it is fetched again. */
export const graphQuery = (params: BuildAddress) => {
  const queryKey = keyOf(`GET ${build}/graph`, { params })
  return queryOptions({
    queryKey,
    queryFn: async ({ signal }): Promise<LoadedGraph> => {
      const table = queryClient.getQueryData<LoadedGraph>(queryKey)?.table ?? new JobTable()
      const finish = table.beginLoad()
      const sinceMs = Date.now()
      // The table has the names of jobs as they are shown.
      const [graph] = await Promise.all([call(`GET ${build}/graph`, { params, signal }), namesLoaded])
      finish(graph)
      return { table, watched: { id: graph.build.id, cursor: graph.cursor, sinceMs } }
    },
    structuralSharing: false,
    // The event stream tells what changes.
    staleTime: 60_000,
  })
}

/** The newest build of the pipeline, which has the highest number. */
export const newestBuildQuery = ({ org, pipeline }: BuildAddress) =>
  query('GET /v2/organizations/{org}/pipelines/{pipeline}/builds', {
    params: { org, pipeline },
    query: { per_page: 1, exclude_jobs: true, exclude_pipeline: true },
  })

export const annotationsQuery = (params: BuildAddress) =>
  listQuery(`GET ${build}/annotations`, { params, query: { per_page: 100 } })

/** Without the texts, which may be long. */
export const annotationCountQuery = (params: BuildAddress) =>
  listQuery(`GET ${build}/annotations`, { params, query: { per_page: 100, omit_body: true } })

export const artifactsQuery = (params: BuildAddress, path?: string) =>
  listQuery(`GET ${build}/artifacts`, {
    params,
    query: { per_page: 100, ...(path === undefined ? {} : { path }) },
  })

export const testRunsQuery = (params: BuildAddress) =>
  listQuery(`GET ${build}/test_runs`, { params, query: { per_page: 100 } })

export const failedTestsQuery = (org: string, build_uuid: string) =>
  listQuery('GET /v2/analytics/organizations/{org}/builds/{build_uuid}/tests', {
    params: { org, build_uuid },
    query: { result: 'failed', include: 'latest_fail', per_page: 100 },
  })

export const stepUploadsQuery = (params: BuildAddress) =>
  query(`GET ${build}/step-uploads`, { params, query: { per_page: 100 } })

export const deliveriesQuery = (params: BuildAddress) =>
  listQuery(`GET ${build}/deliveries`, { params, query: { per_page: 100 } })

export const commitStatusesQuery = (params: BuildAddress) =>
  listQuery(`GET ${build}/commit-statuses`, { params, query: { per_page: 100 } })

/** A job that changed its state is another answer. */
export const jobQuery = (params: JobAddress, state: string) => {
  return queryOptions({
    queryKey: [...keyOf(`GET ${job}`, { params }), state],
    queryFn: ({ signal }) => call(`GET ${job}`, { params, query: { include_viewer: true }, signal }),
  })
}

export const waitingQuery = (params: JobAddress, state: string) => {
  return queryOptions({
    queryKey: [...keyOf(`GET ${job}/waiting`, { params }), state],
    queryFn: ({ signal }) => call(`GET ${job}/waiting`, { params, signal }),
    refetchInterval: 5000,
  })
}

export const jobArtifactsQuery = (params: JobAddress) =>
  listQuery(`GET ${job}/artifacts`, { params, query: { per_page: 100 } })

export const jobEnvironmentQuery = (params: JobAddress) => query(`GET ${job}/env`, { params })
