// Where the objects of each type are in REST. Ids of GraphQL name no organization and no parent, and the URLs of REST need both:
// the parameters of a URL are found by UUID, in the organizations of the caller only. The route that is called with them
// decides whether the caller may see the object.
import { sql } from 'kysely'
import type { Db } from '../db/pool.ts'
import { notFound } from '../lib/errors.ts'
import { notTheIdOf, readIdOf, type GlobalId } from './ids.ts'
import { paramNames, type Params } from './rest.ts'

interface Resource {
  /** The route that reads one. */
  url: string
  /** As REST words it: No cluster found. */
  noun: string
  table?: string
  /** What the last parameter of the URL is, unless it is the UUID. */
  by?: 'slug' | 'number'
  /** The type whose UUID is the first of two in the id; the second is the last parameter of the URL. */
  parent?: 'Organization' | 'Team'
}

const org = '/v2/organizations/:org'
const pipeline = `${org}/pipelines/:pipeline`
const cluster = `${org}/clusters/:cluster`
const team = `${org}/teams/:team`

const resources = {
  Agent: { url: `${org}/agents/:agent`, noun: 'agent', table: 'agents' },
  Build: { url: `${pipeline}/builds/:build`, noun: 'build', table: 'builds', by: 'number' },
  Cluster: { url: cluster, noun: 'cluster', table: 'clusters' },
  ClusterQueue: { url: `${cluster}/queues/:queue`, noun: 'queue', table: 'cluster_queues' },
  ClusterToken: { url: `${cluster}/tokens/:token`, noun: 'token', table: 'cluster_tokens' },
  Job: { url: `${org}/jobs/:job`, noun: 'job', table: 'jobs' },
  Organization: { url: org, noun: 'organization', table: 'organizations', by: 'slug' },
  OrganizationMember: { url: `${org}/members/:user`, noun: 'organization', parent: 'Organization' },
  Pipeline: { url: pipeline, noun: 'pipeline', table: 'pipelines', by: 'slug' },
  PipelineSchedule: { url: `${pipeline}/schedules/:schedule`, noun: 'schedule', table: 'pipeline_schedules' },
  PipelineTemplate: {
    url: `${org}/pipeline-templates/:template`,
    noun: 'pipeline template',
    table: 'pipeline_templates',
  },
  Rule: { url: `${org}/rules/:rule`, noun: 'rule', table: 'rules' },
  Suite: { url: `${org}/suites/:suite`, noun: 'suite', table: 'test_suites', by: 'slug' },
  Team: { url: team, noun: 'team', table: 'teams' },
  TeamMember: { url: `${team}/members/:user`, noun: 'team', parent: 'Team' },
  TeamPipeline: { url: `${team}/pipelines/:team_pipeline`, noun: 'team', parent: 'Team' },
  TeamSuite: { url: `${team}/suites/:team_suite`, noun: 'team', parent: 'Team' },
  User: { url: `${org}/members/:user`, noun: 'user' },
} satisfies Record<string, Resource>

export type ResourceType = keyof typeof resources

export const isResource = (type: string): type is ResourceType => Object.hasOwn(resources, type)

export function resourceOf(type: string): Resource {
  if (!isResource(type)) throw new Error(`addresses.ts has no ${type}.`)
  return resources[type]
}

export const urlOf = (type: ResourceType): string => resources[type].url

/** The parameters of a URL. */
export type Address = Params & { org: string }

export interface Addresses {
  find(type: ResourceType, id: GlobalId): Promise<Address | null>
  /** Throws not-found, as REST words it. `id` is as clients send it. */
  get(type: ResourceType, id: string): Promise<Address>
}

/** The columns of the parameters before the last one. */
const parentColumns: Readonly<Record<string, string>> = {
  org: 'o.slug',
  cluster: 'x.cluster_id',
  pipeline: 'p.slug',
}

export function addressesOf(db: Db, userId: string): Addresses {
  const known = new Map<string, Promise<Address | null>>()

  async function search(type: ResourceType, uuid: string): Promise<Address | null> {
    const { url, table, by = 'id' } = resourceOf(type)
    if (table === undefined) return null
    const names = paramNames(url)
    const columns = names.map((name, index) => {
      const column = index === names.length - 1 ? `x.${by}` : (parentColumns[name] ?? '')
      return sql`${sql.ref(column)}::text as ${sql.ref(name)}`
    })
    const isBelowPipeline = names.slice(0, -1).includes('pipeline')
    const { rows } = await sql<Address>`
      select ${sql.join(columns)} from ${sql.table(table)} x
      join organizations o on o.id = ${sql.ref(type === 'Organization' ? 'x.id' : 'x.organization_id')}
      join organization_members m on m.organization_id = o.id
      ${isBelowPipeline ? sql`join pipelines p on p.id = x.pipeline_id and p.organization_id = o.id` : sql``}
      where x.id = ${uuid} and m.user_id = ${userId}`.execute(db)
    return rows[0] ?? null
  }

  function searchOnce(type: ResourceType, uuid: string): Promise<Address | null> {
    const key = `${type} ${uuid}`
    const found = known.get(key) ?? search(type, uuid)
    known.set(key, found)
    return found
  }

  async function find(type: ResourceType, { uuid, second }: GlobalId): Promise<Address | null> {
    const { parent, url } = resourceOf(type)
    if ((parent === undefined) !== (second === null)) return null
    const address = await searchOnce(parent ?? type, uuid)
    return address && second ? { ...address, [paramNames(url).at(-1) ?? '']: second } : address
  }

  return {
    find,
    async get(type, text) {
      const { parent, noun } = resourceOf(type)
      const id = readIdOf(type, text)
      if (parent !== undefined && id.second === null) throw notTheIdOf(type, text)
      const address = await find(type, id)
      if (address === null) throw notFound(`No ${noun} found`)
      return address
    },
  }
}
