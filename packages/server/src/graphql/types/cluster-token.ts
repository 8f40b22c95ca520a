import { atUrl, embedded } from '../fields.ts'
import { byIdInOrganization, givenId, ifGiven, written } from '../mutations.ts'
import type { Part } from '../table.ts'

const ofToken = byIdInOrganization('ClusterToken')

const settings = { allowedIpAddresses: ifGiven('String'), description: 'String!' }

export const clusterTokenPart: Part = {
  nodes: {
    ClusterToken: {
      allowedIpAddresses: 'String',
      cluster: atUrl('Cluster', 'cluster_url'),
      createdAt: 'DateTime!',
      createdBy: embedded('User', 'created_by'),
      description: 'String',
      expiresAt: 'DateTime',
      uuid: 'ID!',
    },
  },
  // Connections of tokens have another name than the type.
  objects: { ClusterAgentTokenEdge: { cursor: 'String!', node: 'ClusterToken' } },
  mutations: {
    clusterAgentTokenCreate: {
      route: 'POST /tokens',
      at: { organizationId: 'Organization', clusterId: 'Cluster' },
      input: { ...settings, expiresAt: ifGiven('DateTime') },
      payload: {
        clusterAgentToken: written('ClusterToken!'),
        tokenValue: {
          type: 'String!',
          description: 'What agents connect with. Shown here and never again.',
          resolve: ({ row }) => row['token'],
        },
      },
    },
    clusterAgentTokenUpdate: {
      route: 'PUT',
      at: ofToken,
      input: settings,
      payload: { clusterAgentToken: written('ClusterToken!') },
    },
    clusterAgentTokenRevoke: {
      route: 'DELETE',
      at: ofToken,
      payload: { deletedClusterAgentTokenId: givenId },
    },
  },
}
