// Objects of one type as another type refers to them. All of these are read only if more than their id is asked for.
import { notFound } from '../lib/errors.ts'
import { globalId, uuidOf } from './ids.ts'
import { rowOf, textOf, type Rest, type Row } from './rest.ts'
import { Thing, thingById, type Asked } from './node.ts'

/** Makes objects of the rows of a list. */
export const thingsOf =
  (type: string, org: string) =>
  (row: Row): Thing =>
    new Thing(type, org, row)

export const organizationOf = (rest: Rest, org: string): Thing =>
  new Thing('Organization', org, { slug: org }, () => rest.get('/v2/organizations/:org', { org }))

/** The slug of the organization with this id. */
export const orgOfId = ({ places }: Asked, id: string): Promise<string> =>
  places.organization(uuidOf('Organization', id))

/** Some inputs name the organization beside the object; both must fit. */
export async function requireOrg(asked: Asked, id: string, org: string, thing: string): Promise<void> {
  if ((await orgOfId(asked, id)) !== org) throw notFound(`No ${thing} found`)
}

export const clusterOf = (rest: Rest, org: string, cluster: string): Thing =>
  thingById('Cluster', org, cluster, () =>
    rest.get('/v2/organizations/:org/clusters/:cluster', { org, cluster }),
  )

export const queueOf = (rest: Rest, org: string, cluster: string, queue: string): Thing =>
  thingById('ClusterQueue', org, queue, () =>
    rest.get('/v2/organizations/:org/clusters/:cluster/queues/:queue', { org, cluster, queue }),
  )

export const pipelineOf = (rest: Rest, org: string, slug: string, id?: string): Thing => {
  const load = () => rest.get('/v2/organizations/:org/pipelines/:pipeline', { org, pipeline: slug })
  const known = id === undefined ? {} : { id, graphql_id: globalId('Pipeline', id) }
  return new Thing('Pipeline', org, { slug, ...known }, load)
}

export const teamOf = (rest: Rest, org: string, team: string): Thing =>
  thingById('Team', org, team, () => rest.get('/v2/organizations/:org/teams/:team', { org, team }))

export const templateOf = (rest: Rest, org: string, template: string): Thing =>
  thingById('PipelineTemplate', org, template, () =>
    rest.get('/v2/organizations/:org/pipeline-templates/:template', { org, template }),
  )

export const buildOf = (rest: Rest, org: string, pipeline: string, build: string): Thing =>
  new Thing('Build', org, {}, () =>
    rest.get('/v2/organizations/:org/pipelines/:pipeline/builds/:build', { org, pipeline, build }),
  )

/** A user of whom only the id is known. */
export const userOf = (rest: Rest, org: string, user: string): Thing =>
  thingById('User', org, user, () => rest.get('/v2/organizations/:org/members/:user', { org, user }))

/** Resolves a field such as `createdBy` to the user that the row holds. */
export const userIn = (column: string) => async (source: Thing) => {
  const value = await source.get(column)
  return value === null ? null : new Thing('User', source.org, rowOf(value))
}

/** A member as a user. */
export const userOfMember = (org: string, member: Row): Thing =>
  new Thing('User', org, { ...member, graphql_id: globalId('User', textOf(member['id'])) })

/** `kinds` is `queues` for the id of the queue in `…/queues/ID`. */
export const idInUrl = (url: unknown, kinds: string): string | null =>
  new RegExp(`/${kinds}/([^/?#]+)`).exec(textOf(url))?.[1] ?? null
