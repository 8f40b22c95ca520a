import { query } from '../../api/queries.ts'

const templates = 'GET /v2/organizations/{org}/pipeline-templates'

/** Those that the person may use. */
export const templatesQuery = (org: string) => query(templates, { params: { org }, query: { per_page: 100 } })
