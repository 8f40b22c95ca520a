import { call } from '../../api/call.ts'
import type { Queue } from '../cluster/queries.ts'
import { findMembers } from '../team/queries.ts'
import { findTeams } from '../teams/queries.ts'

/** What shares the agents of a fair queue. `detail` is its own: the slug, or the address of a person. */
export interface Sharer {
  id: string
  name: string
  detail: string
}

/** Those with a text in their name; without one, the first of all. */
export async function findSharers(
  org: string,
  fairBy: Exclude<Queue['fair_by'], 'none'>,
  text: string,
  signal: AbortSignal,
): Promise<Sharer[]> {
  if (fairBy === 'team') return findTeams(org, text, signal)
  if (fairBy === 'creator') return findMembers(org, text, signal)
  const pipelines = await call('GET /v2/organizations/{org}/pipelines', {
    params: { org },
    query: { per_page: 100, ...(text === '' ? {} : { name: text }) },
    signal,
  })
  return pipelines.map(({ id, name, slug }) => ({ id, name, detail: slug }))
}
