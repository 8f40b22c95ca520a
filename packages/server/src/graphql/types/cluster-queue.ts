import { instanceShapes } from '../../resources/clusters/queues/schema.ts'
import { connectionSdl } from '../connections.ts'
import { uuidOf } from '../ids.ts'
import { bodyOf, givenOf, type Input } from '../mutations.ts'
import { clusterOf, idInUrl, orgOfId, requireOrg, userIn } from '../fields.ts'
import { rowOf, type Row } from '../rest.ts'
import { Thing, type Asked, type Part } from '../node.ts'

export const clusterQueuePart: Part = {
  sdl: /* GraphQL */ `
    ${connectionSdl('ClusterQueue')}
    extend type Mutation {
      clusterQueueCreate(input: ClusterQueueCreateInput!): ClusterQueueCreatePayload
      clusterQueueUpdate(input: ClusterQueueUpdateInput!): ClusterQueueUpdatePayload
      clusterQueueDelete(input: ClusterQueueDeleteInput!): ClusterQueueDeletePayload
      clusterQueuePauseDispatch(input: ClusterQueuePauseDispatchInput!): ClusterQueuePauseDispatchPayload
      clusterQueueResumeDispatch(input: ClusterQueueResumeDispatchInput!): ClusterQueueResumeDispatchPayload
    }
    type ClusterQueue implements Node {
      cluster: Cluster
      createdAt: DateTime!
      createdBy: User
      description: String
      dispatchPaused: Boolean!
      dispatchPausedAt: DateTime
      dispatchPausedBy: User
      dispatchPausedNote: String
      hosted: Boolean!
      "Null unless the queue is hosted."
      hostedAgents: HostedAgentQueueSettings
      id: ID!
      key: String!
      url: String!
      uuid: ID!
    }
    type HostedAgentQueueSettings {
      instanceShape: HostedAgentInstanceShape!
      platformSettings: HostedAgentPlatformSettings!
    }
    type HostedAgentInstanceShape {
      architecture: String!
      machineType: String!
      memory: Int!
      name: HostedAgentInstanceShapeName!
      size: String!
      vcpu: Int!
    }
    enum HostedAgentInstanceShapeName {
      ${instanceShapes.join('\n')}
    }
    type HostedAgentPlatformSettings {
      linux: HostedAgentLinuxPlatformSettings
      macos: HostedAgentMacosPlatformSettings
    }
    type HostedAgentLinuxPlatformSettings {
      agentImageRef: String
    }
    type HostedAgentMacosPlatformSettings {
      macosVersion: String
      xcodeVersion: String
    }
    input HostedAgentsQueueSettingsCreateInput {
      instanceShape: HostedAgentInstanceShapeName!
    }
    input HostedAgentsQueueSettingsUpdateInput {
      agentImageRef: String
      instanceShape: HostedAgentInstanceShapeName!
    }
    input ClusterQueueCreateInput {
      clientMutationId: String
      clusterId: ID!
      description: String
      hostedAgents: HostedAgentsQueueSettingsCreateInput
      key: String!
      organizationId: ID!
    }
    type ClusterQueueCreatePayload {
      clientMutationId: String
      clusterQueue: ClusterQueue!
    }
    input ClusterQueueUpdateInput {
      clientMutationId: String
      description: String
      hostedAgents: HostedAgentsQueueSettingsUpdateInput
      id: ID!
      organizationId: ID!
    }
    type ClusterQueueUpdatePayload {
      clientMutationId: String
      clusterQueue: ClusterQueue!
    }
    input ClusterQueueDeleteInput {
      clientMutationId: String
      id: ID!
      organizationId: ID!
    }
    type ClusterQueueDeletePayload {
      clientMutationId: String
      deletedClusterQueueId: ID!
    }
    input ClusterQueuePauseDispatchInput {
      clientMutationId: String
      id: ID!
      note: String
    }
    type ClusterQueuePauseDispatchPayload {
      clientMutationId: String
      queue: ClusterQueue!
    }
    input ClusterQueueResumeDispatchInput {
      clientMutationId: String
      id: ID!
    }
    type ClusterQueueResumeDispatchPayload {
      clientMutationId: String
      queue: ClusterQueue!
    }
  `,
  resolvers: {
    Mutation: {
      async clusterQueueCreate(
        _: unknown,
        { input }: Input<{ clusterId: string; organizationId: string }>,
        asked: Asked,
      ) {
        const params = {
          org: await orgOfId(asked, input.organizationId),
          cluster: uuidOf('Cluster', input.clusterId),
        }
        const body = queueBody(input)
        const row = await asked.rest.write('POST', queues, params, body)
        return {
          clientMutationId: input.clientMutationId,
          clusterQueue: new Thing('ClusterQueue', params.org, row),
        }
      },
      async clusterQueueUpdate(_: unknown, { input }: Input<QueueInput>, asked: Asked) {
        const place = await placeOf(asked, input)
        const body = queueBody(input)
        const row = await asked.rest.write('PUT', queue, place, body)
        return {
          clientMutationId: input.clientMutationId,
          clusterQueue: new Thing('ClusterQueue', place.org, row),
        }
      },
      async clusterQueueDelete(_: unknown, { input }: Input<QueueInput>, asked: Asked) {
        await asked.rest.write('DELETE', queue, await placeOf(asked, input))
        return { clientMutationId: input.clientMutationId, deletedClusterQueueId: input.id }
      },
      async clusterQueuePauseDispatch(_: unknown, { input }: Input<{ id: string }>, asked: Asked) {
        const place = await asked.places.get('ClusterQueue', uuidOf('ClusterQueue', input.id))
        const body = bodyOf(input, { note: 'note' })
        const row = await asked.rest.write('POST', `${queue}/pause_dispatch`, place, body)
        return { clientMutationId: input.clientMutationId, queue: new Thing('ClusterQueue', place.org, row) }
      },
      async clusterQueueResumeDispatch(_: unknown, { input }: Input<{ id: string }>, asked: Asked) {
        const place = await asked.places.get('ClusterQueue', uuidOf('ClusterQueue', input.id))
        const row = await asked.rest.write('POST', `${queue}/resume_dispatch`, place)
        return { clientMutationId: input.clientMutationId, queue: new Thing('ClusterQueue', place.org, row) }
      },
    },
    ClusterQueue: {
      async cluster(queue: Thing, _: object, { rest }: Asked) {
        const cluster = idInUrl(await queue.get('cluster_url'), 'clusters')
        return cluster === null ? null : clusterOf(rest, queue.org, cluster)
      },
      createdBy: userIn('created_by'),
      dispatchPausedBy: userIn('dispatch_paused_by'),
      hosted: async (queue: Thing) => (await queue.get('hosted')) === true,
      async hostedAgents(queue: Thing) {
        const settings = await queue.get('hosted_agents')
        return settings === null ? null : hostedAgents(rowOf(settings))
      },
      url: (queue: Thing) => queue.get('web_url'),
    },
  },
}

const queues = '/v2/organizations/:org/clusters/:cluster/queues'
const queue = `${queues}/:queue`

type QueueInput = { id: string; organizationId: string }

async function placeOf(asked: Asked, { id, organizationId }: QueueInput) {
  const place = await asked.places.get('ClusterQueue', uuidOf('ClusterQueue', id))
  await requireOrg(asked, organizationId, place.org, 'queue')
  return place
}

const queueBody = (input: object) => ({
  ...bodyOf(input, { description: 'description', key: 'key' }),
  ...givenOf(input, { hostedAgents: 'hostedAgents' }),
})

function hostedAgents({ instance_shape, platform_settings }: Row) {
  const shape = rowOf(instance_shape)
  const { linux, macos } = rowOf(platform_settings)
  return {
    instanceShape: {
      architecture: shape['architecture'],
      machineType: shape['machine_type'],
      memory: shape['memory'],
      name: shape['name'],
      size: String(shape['name']).split('_').at(-1),
      vcpu: shape['cpu'],
    },
    platformSettings: {
      linux: linux === undefined ? null : { agentImageRef: rowOf(linux)['agent_image_ref'] },
      macos: macos === undefined ? null : { macosVersion: null, xcodeVersion: null },
    },
  }
}
