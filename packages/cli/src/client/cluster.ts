import type { Cluster } from '@millrace/server/wire.ts'
import { Refused } from '../refused.ts'
import { listAll, type Api } from './api.ts'
import { oneLine } from './text.ts'

/** By its id or name; without one, the only cluster. */
export async function findCluster(api: Api, given: string | undefined): Promise<Cluster> {
  const clusters = await listAll(api.pages<Cluster>('clusters'))
  const found =
    given === undefined
      ? clusters
      : clusters.filter(({ id, name }) => id === given || name.toLowerCase() === given.toLowerCase())
  const [only, ...others] = found
  if (only !== undefined && others.length === 0) return only
  const names = (found.length === 0 ? clusters : found).map(({ id, name }) => `${oneLine(name)} (${id})`)
  if (clusters.length === 0) throw new Refused(`${api.org} has no clusters that you can see.`)
  throw new Refused(
    found.length === 0
      ? `There is no cluster ${given}, but ${names.join(', ')}.`
      : `There are several clusters: ${names.join(', ')}. Choose one with --cluster.`,
  )
}
