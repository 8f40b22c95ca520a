import { keepPreviousData } from '@tanstack/react-query'
import { query } from '../api/queries.ts'

export const userQuery = () => query('GET /v2/user', { params: {}, query: { include_viewer: true } })

export const organizationsQuery = () =>
  query('GET /v2/organizations', { params: {}, query: { per_page: 100 } })

export const organizationQuery = (org: string) =>
  query('GET /v2/organizations/{org}', { params: { org }, query: { include_viewer: true } })

/** The message changes rarely, so it is not read again for each page. */
export const bannersQuery = (org: string) => ({
  ...query('GET /v2/organizations/{org}/banners', { params: { org } }),
  staleTime: 5 * 60_000,
})

/** Services that the server has stopped. Somebody else may repair them, so it is read now and then. */
export const stoppedServicesQuery = (org: string) => ({
  ...query('GET /v2/organizations/{org}/services', {
    params: { org },
    query: { state: 'broken' as const, per_page: 2 },
  }),
  staleTime: 60_000,
  refetchInterval: 60_000,
})

/** Runs from two characters on; the results of the text before stay until the new ones are there. */
export const searchQuery = (org: string | null, text: string) => {
  const isLongEnough = Array.from(text).length >= 2
  return {
    ...query('GET /v2/organizations/{org}/search', { params: { org: org ?? '' }, query: { q: text } }),
    enabled: org !== null && isLongEnough,
    ...(isLongEnough ? { placeholderData: keepPreviousData } : {}),
  }
}
