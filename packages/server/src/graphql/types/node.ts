// `node(id)`: any object by its id. null for one that does not exist, and for one that the caller may not see.
import { isJobType, toJob } from './job.ts'
import { readGlobalId, type GlobalId } from '../ids.ts'
import { isPlaced, type Placed } from '../addresses.ts'
import { nullIfMissing } from '../rest.ts'
import { toTeamMember, toTeamPipeline } from './memberships.ts'
import { Thing, type Asked, type Part } from '../node.ts'

export const nodePart: Part = {
  sdl: /* GraphQL */ `
    extend type Query {
      node(id: ID!): Node
    }
  `,
  resolvers: {
    Query: {
      async node(_: unknown, { id }: { id: string }, asked: Asked) {
        const read = readGlobalId(id)
        return read === null ? null : findNode(asked, read)
      },
    },
  },
}

const urls: Readonly<Record<Placed, string>> = {
  Agent: '/v2/organizations/:org/agents/:agent',
  Build: '/v2/organizations/:org/pipelines/:pipeline/builds/:build',
  Cluster: '/v2/organizations/:org/clusters/:cluster',
  ClusterQueue: '/v2/organizations/:org/clusters/:cluster/queues/:queue',
  ClusterToken: '/v2/organizations/:org/clusters/:cluster/tokens/:token',
  Job: '/v2/organizations/:org/jobs/:job',
  Pipeline: '/v2/organizations/:org/pipelines/:pipeline',
  PipelineSchedule: '/v2/organizations/:org/pipelines/:pipeline/schedules/:schedule',
  PipelineTemplate: '/v2/organizations/:org/pipeline-templates/:template',
  Rule: '/v2/organizations/:org/rules/:rule',
  Team: '/v2/organizations/:org/teams/:team',
}

async function findNode(asked: Asked, id: GlobalId): Promise<Thing | null> {
  const { rest, places } = asked
  const { uuid, second } = id
  const type = isJobType(id.type) ? 'Job' : id.type
  if (isPlaced(type) && second === null) {
    const place = await places.find(type, uuid)
    const row = place && (await rest.find(urls[type], place))
    if (place === null || row === null) return null
    return type === 'Job' ? toJob(place.org, row) : new Thing(type, place.org, row)
  }
  if (type === 'Organization' && second === null) {
    const org = await places.organization(uuid).catch(nullIfMissing)
    const row = org === null ? null : await rest.find('/v2/organizations/:org', { org })
    return org === null || row === null ? null : new Thing('Organization', org, row)
  }
  if (second === null) return null
  if (type === 'OrganizationMember') return findMember(asked, uuid, second)
  return findInTeam(asked, type, uuid, second)
}

async function findMember({ rest, places }: Asked, orgId: string, user: string): Promise<Thing | null> {
  const org = await places.organization(orgId).catch(nullIfMissing)
  const row = org === null ? null : await rest.find('/v2/organizations/:org/members/:user', { org, user })
  return org === null || row === null ? null : new Thing('OrganizationMember', org, row)
}

async function findInTeam({ rest, places }: Asked, type: string, team: string, second: string) {
  const place = await places.find('Team', team)
  if (place === null) return null
  const { org } = place
  if (type === 'TeamMember') {
    const url = '/v2/organizations/:org/teams/:team/members/:user'
    const row = await rest.find(url, { org, team, user: second })
    return row && toTeamMember(org, team, row)
  }
  if (type === 'TeamPipeline') {
    const url = '/v2/organizations/:org/teams/:team/pipelines/:team_pipeline'
    const row = await rest.find(url, { org, team, team_pipeline: second })
    return row && toTeamPipeline(org, team, row)
  }
  return null
}
