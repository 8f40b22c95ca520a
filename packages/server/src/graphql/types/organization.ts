import { badRequest } from '../../lib/errors.ts'
import { connect, pageArgs, type PageArgs } from '../connections.ts'
import { uuidOf } from '../ids.ts'
import { jobFilter, toJob, type JobArgs } from './job.ts'
import { listMembers } from './organization-member.ts'
import { organizationOf, orgOfId, thingsOf } from '../fields.ts'
import { nullIfMissing } from '../rest.ts'
import { Thing, type Asked, type Part } from '../node.ts'

export const organizationPart: Part = {
  sdl: /* GraphQL */ `
    extend type Query {
      organization(slug: ID, uuid: ID): Organization
    }
    extend type Mutation {
      organizationApiIpAllowlistUpdate(
        input: OrganizationAPIIPAllowlistUpdateMutationInput!
      ): OrganizationAPIIPAllowlistUpdateMutationPayload
    }
    type Organization implements Node {
      agents(${pageArgs}, clusterQueue: [ID!]): AgentConnection
      "Ranges that API requests may come from, separated by spaces; null: from anywhere. Administrators only."
      allowedApiIpAddresses: String
      cluster(id: ID!): Cluster
      clusters(${pageArgs}): ClusterConnection
      createdAt: DateTime!
      id: ID!
      jobs(
        ${pageArgs}
        agentQueryRules: [String!]
        clusterQueue: [ID!]
        state: [JobStates!]
        type: [JobTypes!]
      ): JobConnection
      members(
        ${pageArgs}
        email: String
        role: [OrganizationMemberRole!]
        team: TeamSelector
      ): OrganizationMemberConnection
      "Always false: Millrace has no second factor of its own. Single sign-on can ask for one."
      membersRequireTwoFactorAuthentication: Boolean!
      name: String!
      pipelineTemplates(${pageArgs}): PipelineTemplateConnection
      pipelines(
        ${pageArgs}
        archived: Boolean = false
        cluster: ID
        repository: PipelineRepositoryInput
        search: String
        tags: [String!]
      ): PipelineConnection
      rules(${pageArgs}): RuleConnection
      slug: String!
      teams(${pageArgs}): TeamConnection
      url: String!
      uuid: String!
    }
    input OrganizationAPIIPAllowlistUpdateMutationInput {
      clientMutationId: String
      "Ranges separated by spaces; an empty text allows requests from anywhere."
      ipAddresses: String!
      organizationID: ID!
    }
    type OrganizationAPIIPAllowlistUpdateMutationPayload {
      clientMutationId: String
      organization: Organization!
    }
  `,
  resolvers: {
    Query: {
      async organization(_: unknown, { slug, uuid }: { slug?: string; uuid?: string }, asked: Asked) {
        if (!slug && !uuid) throw badRequest('Name the organization by its `slug` or `uuid`.')
        const org = slug ? slug : await orgOfId(asked, uuid ?? '').catch(nullIfMissing)
        const row = org === null ? null : await asked.rest.find('/v2/organizations/:org', { org })
        return row && new Thing('Organization', String(row['slug']), row)
      },
    },
    Mutation: {
      async organizationApiIpAllowlistUpdate(
        _: unknown,
        { input }: { input: { clientMutationId?: string; ipAddresses: string; organizationID: string } },
        asked: Asked,
      ) {
        const org = await orgOfId(asked, input.organizationID)
        const body = { allowed_ip_addresses: input.ipAddresses || null }
        await asked.rest.write('PUT', '/v2/organizations/:org/api-settings', { org }, body)
        const { clientMutationId } = input
        return { clientMutationId, organization: organizationOf(asked.rest, org) }
      },
    },
    Organization: {
      agents({ org }: Thing, args: PageArgs & { clusterQueue?: string[] | null }, { rest }: Asked) {
        const [queue, ...more] = (args.clusterQueue ?? []).map((id) => uuidOf('ClusterQueue', id))
        if (more.length > 0) throw badRequest('`clusterQueue` of agents takes one queue.')
        const query = queue === undefined ? {} : { cluster_queue_id: queue }
        const list = { url: '/v2/organizations/:org/agents', params: { org }, query }
        return connect(rest, list, args, thingsOf('Agent', org))
      },
      async allowedApiIpAddresses({ org }: Thing, _: object, { rest }: Asked) {
        return (await rest.get('/v2/organizations/:org/api-settings', { org }))['allowed_ip_addresses']
      },
      async cluster({ org }: Thing, { id }: { id: string }, { rest }: Asked) {
        const params = { org, cluster: uuidOf('Cluster', id) }
        const row = await rest.find('/v2/organizations/:org/clusters/:cluster', params)
        return row && new Thing('Cluster', org, row)
      },
      clusters: listIn('clusters', 'Cluster'),
      jobs({ org }: Thing, args: PageArgs & JobArgs, { rest }: Asked) {
        const list = { url: '/v2/organizations/:org/jobs', params: { org }, query: jobFilter(args) }
        return connect(rest, list, args, (row) => toJob(org, row))
      },
      members: listMembers,
      membersRequireTwoFactorAuthentication: () => false,
      pipelineTemplates: listIn('pipeline-templates', 'PipelineTemplate'),
      pipelines({ org }: Thing, args: PageArgs & PipelineArgs, { rest }: Asked) {
        const list = { url: '/v2/organizations/:org/pipelines', params: { org }, query: pipelineFilter(args) }
        return connect(rest, list, args, thingsOf('Pipeline', org))
      },
      rules: listIn('rules', 'Rule'),
      teams: listIn('teams', 'Team'),
      url: (organization: Thing) => organization.get('web_url'),
    },
  },
}

function listIn(kinds: string, type: string) {
  return ({ org }: Thing, args: PageArgs, { rest }: Asked) =>
    connect(rest, { url: `/v2/organizations/:org/${kinds}`, params: { org } }, args, thingsOf(type, org))
}

type PipelineArgs = {
  archived?: boolean | null
  cluster?: string | null
  repository?: { url: string } | null
  search?: string | null
  tags?: string[] | null
}

const pipelineFilter = ({ archived, cluster, repository, search, tags }: PipelineArgs) => ({
  ...(search ? { name: search } : {}),
  ...(repository ? { repository: repository.url } : {}),
  ...(cluster ? { cluster_id: uuidOf('Cluster', cluster) } : {}),
  ...(tags ? { tags } : {}),
  ...(archived ? { archived: 'true' } : {}),
})
