// Finds where an object is by its UUID: ids of GraphQL name no organization and no parent, and the URLs of REST need both.
// Only organizations of the caller are searched. The route that is called with the place decides whether the caller may see it.
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../db/pool.ts'
import { notFound } from '../lib/errors.ts'
import type { Params } from './rest.ts'

const tables = {
  Agent: { from: sql`agents x`, parents: sql`x.id as agent` },
  Build: {
    from: sql`builds x join pipelines p on p.id = x.pipeline_id and p.organization_id = x.organization_id`,
    parents: sql`p.slug as pipeline, x.number::text as build`,
  },
  Cluster: { from: sql`clusters x`, parents: sql`x.id as cluster` },
  ClusterQueue: { from: sql`cluster_queues x`, parents: sql`x.cluster_id as cluster, x.id as queue` },
  ClusterToken: { from: sql`cluster_tokens x`, parents: sql`x.cluster_id as cluster, x.id as token` },
  Job: { from: sql`jobs x`, parents: sql`x.id as job` },
  Pipeline: { from: sql`pipelines x`, parents: sql`x.slug as pipeline` },
  PipelineSchedule: {
    from: sql`pipeline_schedules x join pipelines p on p.id = x.pipeline_id and p.organization_id = x.organization_id`,
    parents: sql`p.slug as pipeline, x.id as schedule`,
  },
  PipelineTemplate: { from: sql`pipeline_templates x`, parents: sql`x.id as template` },
  Rule: { from: sql`rules x`, parents: sql`x.id as rule` },
  Team: { from: sql`teams x`, parents: sql`x.id as team` },
} satisfies Record<string, { from: RawBuilder<unknown>; parents: RawBuilder<unknown> }>

export type Placed = keyof typeof tables

/** The parameters of the URL, with `org`. */
export type Place = Params & { org: string }

export interface Places {
  find(type: Placed, uuid: string): Promise<Place | null>
  /** Throws not-found, as REST words it. */
  get(type: Placed, uuid: string): Promise<Place>
  /** The slug of an organization. */
  organization(uuid: string): Promise<string>
}

export const isPlaced = (type: string): type is Placed => Object.hasOwn(tables, type)

export function placesOf(db: Db, userId: string): Places {
  const known = new Map<string, Promise<Place | null>>()

  async function search(type: Placed, uuid: string): Promise<Place | null> {
    const { from, parents } = tables[type]
    const { rows } = await sql<Place>`
      select o.slug as org, ${parents}
      from ${from} join organizations o on o.id = x.organization_id
      join organization_members m on m.organization_id = o.id
      where x.id = ${uuid} and m.user_id = ${userId}`.execute(db)
    return rows[0] ?? null
  }

  function find(type: Placed, uuid: string): Promise<Place | null> {
    const key = `${type} ${uuid}`
    const found = known.get(key) ?? search(type, uuid)
    known.set(key, found)
    return found
  }

  return {
    find,
    async get(type, uuid) {
      const place = await find(type, uuid)
      if (place === null) throw notFound(`No ${words[type]} found`)
      return place
    },
    async organization(uuid) {
      const { rows } = await sql<{ slug: string }>`
        select o.slug from organizations o join organization_members m on m.organization_id = o.id
        where o.id = ${uuid} and m.user_id = ${userId}`.execute(db)
      if (rows[0] === undefined) throw notFound('No organization found')
      return rows[0].slug
    },
  }
}

const words: Record<Placed, string> = {
  Agent: 'agent',
  Build: 'build',
  Cluster: 'cluster',
  ClusterQueue: 'queue',
  ClusterToken: 'token',
  Job: 'job',
  Pipeline: 'pipeline',
  PipelineSchedule: 'schedule',
  PipelineTemplate: 'pipeline template',
  Rule: 'rule',
  Team: 'team',
}
