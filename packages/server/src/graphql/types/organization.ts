import { badRequest } from '../../lib/errors.ts'
import { urlOf } from '../addresses.ts'
import { pageArgs } from '../connections.ts'
import { byOrder, embedded, from, list } from '../fields.ts'
import { readIdOf, uuidOf } from '../ids.ts'
import { addressed, written } from '../mutations.ts'
import { findAt, findById } from '../node.ts'
import type { Part } from '../table.ts'
import { jobFilter } from './job.ts'
import { listMembers } from './member.ts'

const organization = urlOf('Organization')

export const organizationPart: Part = {
  queries: {
    organization: {
      type: 'Organization',
      args: { slug: 'ID', uuid: 'ID' },
      resolve(_, { slug, uuid }: { slug?: string | null; uuid?: string | null }, context) {
        if (slug) return findAt(context, 'Organization', { org: slug })
        if (uuid) return findById(context, readIdOf('Organization', uuid))
        throw badRequest('Name the organization by its `slug` or `uuid`.')
      },
    },
  },
  nodes: {
    Organization: {
      agents: list('Agent', 'agents', {
        args: { clusterQueue: '[ID!]' },
        query({ clusterQueue }: { clusterQueue?: string[] | null }) {
          const [queue, ...more] = (clusterQueue ?? []).map((id) => uuidOf('ClusterQueue', id))
          if (more.length > 0) throw badRequest('`clusterQueue` of agents takes one queue.')
          return queue === undefined ? {} : { cluster_queue_id: queue }
        },
      }),
      allowedApiIpAddresses: {
        type: 'String',
        description:
          'Ranges that API requests may come from, separated by spaces; null: from anywhere. Administrators only.',
        resolve: async ({ address }, _, { rest }) =>
          (await rest.get(`${organization}/api-settings`, address))['allowed_ip_addresses'],
      },
      banners: list('OrganizationBanner', 'banners'),
      cluster: {
        type: 'Cluster',
        args: { id: 'ID!' },
        resolve: ({ address }, { id }: { id: string }, context) =>
          findAt(context, 'Cluster', { ...address, cluster: uuidOf('Cluster', id) }),
      },
      clusters: list('Cluster', 'clusters', byOrder('ClusterOrder')),
      createdAt: 'DateTime!',
      jobs: list('Job', 'jobs', {
        args: {
          agentQueryRules: '[String!]',
          clusterQueue: '[ID!]',
          state: '[JobStates!]',
          type: '[JobTypes!]',
        },
        query: jobFilter,
      }),
      members: {
        type: 'OrganizationMemberConnection',
        args: { ...pageArgs, email: 'String', role: '[OrganizationMemberRole!]', team: 'TeamSelector' },
        resolve: listMembers,
      },
      membersRequireTwoFactorAuthentication: {
        type: 'Boolean!',
        description:
          'Always false: Millrace has no second factor of its own. Single sign-on can ask for one.',
        resolve: () => false,
      },
      name: 'String!',
      pipelineTemplates: list('PipelineTemplate', 'pipeline-templates', byOrder('PipelineTemplateOrder')),
      pipelines: list('Pipeline', 'pipelines', {
        args: {
          archived: { type: 'Boolean', defaultValue: false },
          cluster: 'ID',
          repository: 'PipelineRepositoryInput',
          search: 'String',
          tags: '[String!]',
        },
        query: pipelineFilter,
      }),
      rules: list('Rule', 'rules'),
      slug: 'String!',
      teams: list('Team', 'teams', byOrder('TeamOrder')),
      url: from('web_url', 'String!'),
      uuid: 'String!',
    },
    OrganizationBanner: {
      createdAt: 'DateTime!',
      createdBy: embedded('User', 'created_by'),
      message: 'String!',
      updatedAt: 'DateTime!',
      uuid: 'ID!',
    },
  },
  enums: {
    ClusterOrder: 'NAME RECENTLY_CREATED',
    PipelineTemplateOrder: 'NAME RECENTLY_CREATED',
    TeamOrder: 'NAME RECENTLY_CREATED',
  },
  mutations: {
    organizationApiIpAllowlistUpdate: {
      typeName: 'OrganizationAPIIPAllowlistUpdateMutation',
      route: 'PUT /api-settings',
      at: { organizationID: 'Organization' },
      input: {
        ipAddresses: {
          type: 'String!',
          description: 'Ranges separated by spaces; an empty text allows requests from anywhere.',
          column: 'allowed_ip_addresses',
          toBody: (ranges) => ranges || null,
        },
      },
      payload: { organization: addressed('Organization!') },
    },
    organizationBannerUpsert: {
      route: 'PUT /banners',
      at: { organizationId: 'Organization' },
      input: { message: 'String!' },
      payload: { banner: written('OrganizationBanner!') },
    },
    organizationBannerDelete: {
      route: 'DELETE /banners',
      at: { organizationId: 'Organization' },
      payload: { organization: addressed('Organization!') },
    },
    organizationEnforceTwoFactorAuthenticationForMembersUpdate: {
      typeName: 'OrganizationEnforceTwoFactorAuthenticationForMembersUpdateMutation',
      route: 'GET',
      at: { organizationId: 'Organization' },
      async check(_, __, input) {
        if (input['membersRequireTwoFactorAuthentication'] === true) throw badRequest(noSecondFactor)
      },
      input: { membersRequireTwoFactorAuthentication: 'Boolean!' },
      payload: { organization: addressed('Organization!') },
    },
  },
}

const noSecondFactor =
  'Millrace has no second factor of its own, so members cannot be required to have one. Single sign-on can ask for one.'

type PipelineArgs = {
  archived?: boolean | null
  cluster?: string | null
  repository?: { url: string } | null
  search?: string | null
  tags?: string[] | null
}

function pipelineFilter({ archived, cluster, repository, search, tags }: PipelineArgs) {
  return {
    ...(search ? { name: search } : {}),
    ...(repository ? { repository: repository.url } : {}),
    ...(cluster ? { cluster_id: uuidOf('Cluster', cluster) } : {}),
    ...(tags ? { tags } : {}),
    ...(archived ? { archived: 'true' } : {}),
  }
}
