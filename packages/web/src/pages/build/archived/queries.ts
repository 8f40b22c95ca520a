import type { BuildAddress } from '../../../api/addresses.ts'
import { query } from '../../../api/queries.ts'

export const archivedBuildQuery = (params: BuildAddress) =>
  query('GET /v2/organizations/{org}/pipelines/{pipeline}/archived_builds/{build}', { params })
