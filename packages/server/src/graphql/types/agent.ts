import { atUrl, embedded, isSet, reference } from '../fields.ts'
import type { Part } from '../table.ts'

export const agentPart: Part = {
  nodes: {
    Agent: {
      clusterQueue: atUrl('ClusterQueue', 'cluster_queue_url'),
      connectedAt: 'DateTime',
      connectionState: 'String!',
      createdAt: 'DateTime',
      disconnectedAt: 'DateTime',
      hostname: 'String',
      ipAddress: 'String',
      isRunningJob: isSet('job'),
      job: embedded('Job', 'job'),
      lostAt: 'DateTime',
      metaData: '[String!]',
      name: 'String!',
      organization: reference('Organization'),
      paused: 'Boolean!',
      pausedAt: 'DateTime',
      pausedBy: embedded('User', 'paused_by'),
      pausedNote: 'String',
      pausedTimeoutInMinutes: 'Int',
      priority: 'Int',
      userAgent: 'String',
      uuid: 'String!',
      version: 'String',
    },
  },
}
