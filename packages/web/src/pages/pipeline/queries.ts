import { query } from '../../api/queries.ts'

export const pipelineQuery = (org: string, pipeline: string) =>
  query('GET /v2/organizations/{org}/pipelines/{pipeline}', {
    params: { org, pipeline },
    query: { include_viewer: true },
  })
