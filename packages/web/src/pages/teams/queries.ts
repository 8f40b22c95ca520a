import { call, type Answer } from '../../api/call.ts'
import type { Operations } from '../../api/operations.ts'

const teams = '/v2/organizations/{org}/teams'

export type Team = Answer<`GET ${typeof teams}`>[number]
type NewTeam = NonNullable<Operations[`POST ${typeof teams}`]['body']>

/** All that the person may see: there are at most 250. */
export const teamsQuery = (org: string) => ({
  queryKey: [`GET ${teams}`, { org }, 'all'],
  async queryFn({ signal }: { signal: AbortSignal }): Promise<Team[]> {
    const pages = await Promise.all(
      [1, 2, 3].map((page) =>
        call(`GET ${teams}`, { params: { org }, query: { per_page: 100, page }, signal }),
      ),
    )
    return pages.flat()
  },
})

/** The teams that the person manages: only these may they give access. There are at most 250. */
export const managedTeamsQuery = (org: string) => ({
  queryKey: [`GET ${teams}`, { org }, 'managed'],
  async queryFn({ signal }: { signal: AbortSignal }) {
    const pages = await Promise.all(
      [1, 2, 3].map((page) =>
        call(`GET ${teams}`, {
          params: { org },
          query: { per_page: 100, page, include_viewer: true },
          signal,
        }),
      ),
    )
    return pages.flat().filter(({ viewer }) => viewer?.may.manage === true)
  },
})

export const createTeam = (org: string, body: NewTeam, idempotencyKey: string) =>
  call(`POST ${teams}`, { params: { org }, body, idempotencyKey })

export const enableTeams = (org: string) => call(`POST ${teams}/enable`, { params: { org } })

export const teamPath = (org: string, id: string) => `/organizations/${org}/settings/teams/${id}`

export const findTeamsKey = (org: string) => [`GET ${teams}`, { org }] as const

/** The first of those whose name has the text. */
export async function findTeams(org: string, text: string, signal: AbortSignal) {
  const found = await teamsQuery(org).queryFn({ signal })
  const wanted = text.toLowerCase()
  return found
    .filter(({ name }) => name.toLowerCase().includes(wanted))
    .slice(0, 20)
    .map(({ id, name, slug }) => ({ id, name, detail: slug }))
}
