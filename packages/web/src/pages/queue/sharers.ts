import { call } from '../../api/call.ts'
import type { Queue } from '../cluster/queries.ts'
import { findMembers } from '../team/queries.ts'
import { findTeams, teamsQuery } from '../teams/queries.ts'

type FairBy = Exclude<Queue['fair_by'], 'none'>

/** What shares the agents of a fair queue. `detail` is its own: the slug, or the address of a person. */
export interface Sharer {
  id: string
  name: string
  detail: string
}

const pipelines = 'GET /v2/organizations/{org}/pipelines'

/** Those with a text in their name; without one, the first of all. */
export async function findSharers(
  org: string,
  fairBy: FairBy,
  text: string,
  signal: AbortSignal,
): Promise<Sharer[]> {
  if (fairBy === 'team') return findTeams(org, text, signal)
  if (fairBy === 'creator') return findMembers(org, text, signal)
  const query = { per_page: 100, ...(text === '' ? {} : { name: text }) }
  const found = await call(pipelines, { params: { org }, query, signal })
  return found.map(({ id, name, slug }) => ({ id, name, detail: slug }))
}

/** Those that have these ids, as far as the person may see them. */
export async function namedSharers(
  org: string,
  fairBy: FairBy,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<Sharer[]> {
  if (fairBy === 'team') {
    const teams = await teamsQuery(org).queryFn({ signal })
    return teams.map(({ id, name, slug }) => ({ id, name, detail: slug }))
  }
  const pages = Array.from({ length: Math.ceil(ids.length / mostIds) }, (_, page) =>
    ids.slice(page * mostIds, (page + 1) * mostIds),
  )
  const query = (page: string[]) => ({ per_page: mostIds, 'id[]': page })
  const found = await Promise.all(
    pages.map(async (page): Promise<Sharer[]> => {
      if (fairBy === 'creator') {
        const people = await call('GET /v2/organizations/{org}/members', {
          params: { org },
          query: query(page),
          signal,
        })
        return people.map(({ id, name, email }) => ({ id, name, detail: email }))
      }
      const listed = await call(pipelines, {
        params: { org },
        query: { ...query(page), include_archived: true },
        signal,
      })
      return listed.map(({ id, name, slug }) => ({ id, name, detail: slug }))
    }),
  )
  return found.flat()
}

/** The API takes so many at once. An address of so many fits in a line of any proxy. */
const mostIds = 50
