import { call } from '../../api/call.ts'
import type { Service } from '../services/queries.ts'

const mostFound = 20

interface Found {
  id: string
  name: string
  detail: string
}

/** The first pipelines, teams or clusters whose names have the text. */
export async function findTargets(
  org: string,
  scope: Exclude<Service['scope'], 'all'>,
  text: string,
  signal: AbortSignal,
): Promise<Found[]> {
  const params = { org }
  if (scope === 'some_projects') {
    const query = { per_page: mostFound, ...(text === '' ? {} : { name: text }) }
    const found = await call('GET /v2/organizations/{org}/pipelines', { params, query, signal })
    return found.map(({ id, name, slug }) => ({ id, name, detail: slug }))
  }
  const query = { per_page: 100 }
  const found =
    scope === 'some_teams'
      ? await call('GET /v2/organizations/{org}/teams', { params, query, signal })
      : await call('GET /v2/organizations/{org}/clusters', { params, query, signal })
  return found
    .filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()))
    .slice(0, mostFound)
    .map(({ id, name, description }) => ({ id, name, detail: description ?? '' }))
}
