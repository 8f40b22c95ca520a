import { connectionSdl } from '../connections.ts'
import { uuidOf } from '../ids.ts'
import { givenOf, type Input } from '../mutations.ts'
import { clusterOf, idInUrl, orgOfId, requireOrg, userIn } from '../fields.ts'
import { Thing, type Asked, type Part } from '../node.ts'

export const clusterTokenPart: Part = {
  sdl: /* GraphQL */ `
    ${connectionSdl('ClusterToken', 'ClusterAgentToken')}
    extend type Mutation {
      clusterAgentTokenCreate(input: ClusterAgentTokenCreateInput!): ClusterAgentTokenCreatePayload
      clusterAgentTokenUpdate(input: ClusterAgentTokenUpdateInput!): ClusterAgentTokenUpdatePayload
      clusterAgentTokenRevoke(input: ClusterAgentTokenRevokeInput!): ClusterAgentTokenRevokePayload
    }
    type ClusterToken implements Node {
      allowedIpAddresses: String
      cluster: Cluster
      createdAt: DateTime!
      createdBy: User
      description: String
      expiresAt: DateTime
      id: ID!
      uuid: ID!
    }
    input ClusterAgentTokenCreateInput {
      allowedIpAddresses: String
      clientMutationId: String
      clusterId: ID!
      description: String!
      expiresAt: DateTime
      organizationId: ID!
    }
    type ClusterAgentTokenCreatePayload {
      clientMutationId: String
      clusterAgentToken: ClusterToken!
      "What agents connect with. Shown here and never again."
      tokenValue: String!
    }
    input ClusterAgentTokenUpdateInput {
      allowedIpAddresses: String
      clientMutationId: String
      description: String!
      id: ID!
      organizationId: ID!
    }
    type ClusterAgentTokenUpdatePayload {
      clientMutationId: String
      clusterAgentToken: ClusterToken!
    }
    input ClusterAgentTokenRevokeInput {
      clientMutationId: String
      id: ID!
      organizationId: ID!
    }
    type ClusterAgentTokenRevokePayload {
      clientMutationId: String
      deletedClusterAgentTokenId: ID!
    }
  `,
  resolvers: {
    Mutation: {
      async clusterAgentTokenCreate(
        _: unknown,
        { input }: Input<{ clusterId: string; organizationId: string }>,
        asked: Asked,
      ) {
        const org = await orgOfId(asked, input.organizationId)
        const params = { org, cluster: uuidOf('Cluster', input.clusterId) }
        const { token, ...row } = await asked.rest.write('POST', tokens, params, givenOf(input, fields))
        return {
          clientMutationId: input.clientMutationId,
          clusterAgentToken: new Thing('ClusterToken', org, row),
          tokenValue: token,
        }
      },
      async clusterAgentTokenUpdate(_: unknown, { input }: Input<TokenInput>, asked: Asked) {
        const place = await placeOf(asked, input)
        const row = await asked.rest.write('PUT', `${tokens}/:token`, place, givenOf(input, fields))
        const clusterAgentToken = new Thing('ClusterToken', place.org, row)
        return { clientMutationId: input.clientMutationId, clusterAgentToken }
      },
      async clusterAgentTokenRevoke(_: unknown, { input }: Input<TokenInput>, asked: Asked) {
        await asked.rest.write('DELETE', `${tokens}/:token`, await placeOf(asked, input))
        return { clientMutationId: input.clientMutationId, deletedClusterAgentTokenId: input.id }
      },
    },
    ClusterToken: {
      async cluster(token: Thing, _: object, { rest }: Asked) {
        const cluster = idInUrl(await token.get('cluster_url'), 'clusters')
        return cluster === null ? null : clusterOf(rest, token.org, cluster)
      },
      createdBy: userIn('created_by'),
    },
  },
}

const tokens = '/v2/organizations/:org/clusters/:cluster/tokens'

const fields = {
  allowedIpAddresses: 'allowed_ip_addresses',
  description: 'description',
  expiresAt: 'expires_at',
}

type TokenInput = { id: string; organizationId: string }

async function placeOf(asked: Asked, { id, organizationId }: TokenInput) {
  const place = await asked.places.get('ClusterToken', uuidOf('ClusterToken', id))
  await requireOrg(asked, organizationId, place.org, 'token')
  return place
}
