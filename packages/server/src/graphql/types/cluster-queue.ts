import { badRequest } from '../../lib/errors.ts'
import { instanceShapes } from '../../resources/clusters/queues/schema.ts'
import { atUrl, embedded, from } from '../fields.ts'
import { byId, byIdInOrganization, givenId, ifGiven, written } from '../mutations.ts'
import { rowOf } from '../rest.ts'
import type { Part } from '../table.ts'

const ofQueue = byIdInOrganization('ClusterQueue')
const dispatch = { at: byId('ClusterQueue'), payload: { queue: written('ClusterQueue!') } }

/** REST has the settings of the platform beside the shape. */
const hostedAgents = (verb: 'Create' | 'Update') =>
  ifGiven(`HostedAgentsQueueSettings${verb}Input`, {
    column: 'hostedAgents',
    toBody(value) {
      const { platformSettings, ...settings } = rowOf(value)
      const { linux, macos } = rowOf(platformSettings)
      if (Object.values(rowOf(macos)).some((version) => version !== null)) {
        throw badRequest('The versions of macOS and Xcode are those of the machine, and cannot be chosen.')
      }
      const { agentImageRef } = rowOf(linux)
      return agentImageRef ? { agentImageRef, ...settings } : settings
    },
  })

export const clusterQueuePart: Part = {
  nodes: {
    ClusterQueue: {
      cluster: atUrl('Cluster', 'cluster_url'),
      createdAt: 'DateTime!',
      createdBy: embedded('User', 'created_by'),
      description: 'String',
      dispatchPaused: 'Boolean!',
      dispatchPausedAt: 'DateTime',
      dispatchPausedBy: embedded('User', 'dispatch_paused_by'),
      dispatchPausedNote: 'String',
      hosted: { type: 'Boolean!', resolve: async (source) => (await source.get('hosted')) === true },
      hostedAgents: {
        ...embedded('HostedAgentQueueSettings', 'hosted_agents'),
        description: 'Null unless the queue is hosted.',
      },
      key: 'String!',
      url: from('web_url', 'String!'),
      uuid: 'ID!',
    },
  },
  objects: {
    HostedAgentQueueSettings: {
      instanceShape: embedded('HostedAgentInstanceShape!', 'instance_shape'),
      platformSettings: embedded('HostedAgentPlatformSettings!', 'platform_settings'),
    },
    HostedAgentInstanceShape: {
      architecture: 'String!',
      machineType: 'String!',
      memory: 'Int!',
      name: 'HostedAgentInstanceShapeName!',
      size: { type: 'String!', resolve: async (shape) => (await shape.text('name')).split('_').at(-1) },
      vcpu: from('cpu', 'Int!'),
    },
    HostedAgentPlatformSettings: {
      linux: embedded('HostedAgentLinuxPlatformSettings', 'linux'),
      macos: embedded('HostedAgentMacosPlatformSettings', 'macos'),
    },
    HostedAgentLinuxPlatformSettings: { agentImageRef: 'String' },
    HostedAgentMacosPlatformSettings: { macosVersion: 'String', xcodeVersion: 'String' },
  },
  enums: {
    HostedAgentInstanceShapeName: Object.fromEntries(instanceShapes.map((shape) => [shape, shape])),
  },
  inputs: {
    HostedAgentsLinuxPlatformSettingsInput: { agentImageRef: 'String' },
    HostedAgentsMacosPlatformSettingsInput: { macosVersion: 'String', xcodeVersion: 'String' },
    HostedAgentsPlatformSettingsInput: {
      linux: 'HostedAgentsLinuxPlatformSettingsInput',
      macos: 'HostedAgentsMacosPlatformSettingsInput',
    },
    HostedAgentsQueueSettingsCreateInput: {
      instanceShape: 'HostedAgentInstanceShapeName!',
      platformSettings: 'HostedAgentsPlatformSettingsInput',
    },
    HostedAgentsQueueSettingsUpdateInput: {
      agentImageRef: 'String',
      instanceShape: 'HostedAgentInstanceShapeName!',
      platformSettings: 'HostedAgentsPlatformSettingsInput',
    },
  },
  mutations: {
    clusterQueueCreate: {
      route: 'POST /queues',
      at: { organizationId: 'Organization', clusterId: 'Cluster' },
      input: {
        description: 'String',
        hostedAgents: hostedAgents('Create'),
        key: 'String!',
      },
      payload: { clusterQueue: written('ClusterQueue!') },
    },
    clusterQueueUpdate: {
      route: 'PUT',
      at: ofQueue,
      input: {
        description: 'String',
        hostedAgents: hostedAgents('Update'),
      },
      payload: { clusterQueue: written('ClusterQueue!') },
    },
    clusterQueueDelete: { route: 'DELETE', at: ofQueue, payload: { deletedClusterQueueId: givenId } },
    clusterQueuePauseDispatch: { ...dispatch, route: 'POST /pause_dispatch', input: { note: 'String' } },
    clusterQueueResumeDispatch: { ...dispatch, route: 'POST /resume_dispatch' },
  },
}
