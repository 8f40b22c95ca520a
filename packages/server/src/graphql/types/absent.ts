// What Millrace does not have. Documents of clients name it together with what there is, so it is null, or refused when it is
// used, but never makes a document invalid.
import type { Part } from '../table.ts'

const nothing = { resolve: () => null }

const refusal =
  'There are no agent tokens outside of clusters. Create one with clusterAgentTokenCreate, and agents connect to its cluster.'

export const absentPart: Part = {
  queries: {
    agentToken: { type: 'AgentToken', args: { slug: 'ID!' }, ...nothing },
    registry: { type: 'Registry', args: { slug: 'ID', uuid: 'ID' }, ...nothing },
  },
  nodes: {
    AgentToken: { description: 'String', uuid: 'String!' },
    Registry: { name: 'String!', slug: 'String!', uuid: 'ID!' },
  },
  descriptions: {
    AgentToken: 'Tokens of agents belong to clusters, so there is none of these.',
    Registry: 'There are no package registries.',
  },
  mutations: {
    agentTokenCreate: {
      refusal,
      inputs: { description: 'String', organizationID: 'ID!' },
      payload: {
        agentTokenEdge: { type: 'AgentTokenEdge!', ...nothing },
        tokenValue: { type: 'String!', ...nothing },
      },
    },
    agentTokenRevoke: {
      refusal,
      inputs: { id: 'ID!', reason: 'String!' },
      payload: { agentToken: { type: 'AgentToken!', ...nothing } },
    },
  },
}
