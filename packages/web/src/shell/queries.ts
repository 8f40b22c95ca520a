import { query } from '../api/queries.ts'

export const userQuery = () => query('GET /v2/user', { params: {} })

export const organizationsQuery = () =>
  query('GET /v2/organizations', { params: {}, query: { per_page: 100 } })

export const organizationQuery = (org: string) =>
  query('GET /v2/organizations/{org}', { params: { org }, query: { include_viewer: true } })
