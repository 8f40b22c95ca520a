import { connectionSdl, connectWhole, pageArgs, type PageArgs } from '../connections.ts'
import { uuidOf } from '../ids.ts'
import { bodyOf, type Input } from '../mutations.ts'
import { organizationOf, orgOfId, queueOf, requireOrg, thingsOf, userIn } from '../fields.ts'
import { Thing, type Asked, type Part } from '../node.ts'

export const clusterPart: Part = {
  sdl: /* GraphQL */ `
    ${connectionSdl('Cluster')}
    extend type Mutation {
      clusterCreate(input: ClusterCreateInput!): ClusterCreatePayload
      clusterUpdate(input: ClusterUpdateInput!): ClusterUpdatePayload
      clusterDelete(input: ClusterDeleteInput!): ClusterDeletePayload
    }
    type Cluster implements Node {
      agentTokens(${pageArgs}): ClusterAgentTokenConnection
      color: String
      createdAt: DateTime!
      createdBy: User
      defaultQueue: ClusterQueue
      description: String
      emoji: String
      id: ID!
      name: String!
      organization: Organization
      queues(${pageArgs}, order: ClusterQueueOrder = KEY): ClusterQueueConnection
      url: String!
      uuid: ID!
    }
    enum ClusterQueueOrder {
      KEY
      RECENTLY_CREATED
    }
    input ClusterCreateInput {
      clientMutationId: String
      color: String
      description: String
      emoji: String
      name: String!
      organizationId: ID!
    }
    type ClusterCreatePayload {
      clientMutationId: String
      cluster: Cluster!
    }
    input ClusterUpdateInput {
      clientMutationId: String
      color: String
      defaultQueueId: ID
      description: String
      emoji: String
      id: ID!
      name: String
      organizationId: ID!
    }
    type ClusterUpdatePayload {
      clientMutationId: String
      cluster: Cluster!
    }
    input ClusterDeleteInput {
      clientMutationId: String
      id: ID!
      organizationId: ID!
    }
    type ClusterDeletePayload {
      clientMutationId: String
      deletedClusterId: ID!
    }
  `,
  resolvers: {
    Mutation: {
      async clusterCreate(_: unknown, { input }: Input<{ organizationId: string }>, asked: Asked) {
        const org = await orgOfId(asked, input.organizationId)
        const body = bodyOf(input, clusterFields)
        const row = await asked.rest.write('POST', '/v2/organizations/:org/clusters', { org }, body)
        return { clientMutationId: input.clientMutationId, cluster: new Thing('Cluster', org, row) }
      },
      async clusterUpdate(_: unknown, { input }: Input<ClusterInput>, asked: Asked) {
        const place = await placeOf(asked, input)
        const queue = input.defaultQueueId
        const body = {
          ...bodyOf(input, clusterFields),
          ...(queue === undefined
            ? {}
            : { default_queue_id: queue === null ? null : uuidOf('ClusterQueue', queue) }),
        }
        const row = await asked.rest.write('PUT', '/v2/organizations/:org/clusters/:cluster', place, body)
        return { clientMutationId: input.clientMutationId, cluster: new Thing('Cluster', place.org, row) }
      },
      async clusterDelete(_: unknown, { input }: Input<ClusterInput>, asked: Asked) {
        const place = await placeOf(asked, input)
        await asked.rest.write('DELETE', '/v2/organizations/:org/clusters/:cluster', place)
        return { clientMutationId: input.clientMutationId, deletedClusterId: input.id }
      },
    },
    Cluster: {
      async agentTokens(cluster: Thing, args: PageArgs, { rest }: Asked) {
        const params = { org: cluster.org, cluster: await cluster.text('id') }
        const list = { url: '/v2/organizations/:org/clusters/:cluster/tokens', params }
        return connectWhole(rest, list, args, (rows) => rows, thingsOf('ClusterToken', cluster.org))
      },
      createdBy: userIn('created_by'),
      async defaultQueue(cluster: Thing, _: object, { rest }: Asked) {
        const queue = await cluster.text('default_queue_id')
        return queue === '' ? null : queueOf(rest, cluster.org, await cluster.text('id'), queue)
      },
      organization: ({ org }: Thing, _: object, { rest }: Asked) => organizationOf(rest, org),
      async queues(cluster: Thing, args: PageArgs & { order: string }, { rest }: Asked) {
        const params = { org: cluster.org, cluster: await cluster.text('id') }
        const list = { url: '/v2/organizations/:org/clusters/:cluster/queues', params }
        return connectWhole(
          rest,
          list,
          args,
          (rows) =>
            args.order === 'KEY' ? rows.toSorted((a, b) => compare(a['key'], b['key'])) : rows.toReversed(),
          thingsOf('ClusterQueue', cluster.org),
        )
      },
      url: (cluster: Thing) => cluster.get('web_url'),
    },
  },
}

const clusterFields = { color: 'color', description: 'description', emoji: 'emoji', name: 'name' }

type ClusterInput = { id: string; organizationId: string; defaultQueueId?: string | null }

async function placeOf(asked: Asked, { id, organizationId }: ClusterInput) {
  const place = await asked.places.get('Cluster', uuidOf('Cluster', id))
  await requireOrg(asked, organizationId, place.org, 'cluster')
  return place
}

const compare = (a: unknown, b: unknown) => (String(a) < String(b) ? -1 : 1)
