import { embedded, from, list, reference } from '../fields.ts'
import { byIdInOrganization, givenId, idOf, written } from '../mutations.ts'
import type { Part } from '../table.ts'

const ofCluster = byIdInOrganization('Cluster')

const settings = { color: 'String', description: 'String', emoji: 'String' }

export const clusterPart: Part = {
  nodes: {
    Cluster: {
      agentTokens: list('ClusterToken', 'tokens', {
        choose: (rows) => rows,
        connection: 'ClusterAgentToken',
      }),
      color: 'String',
      createdAt: 'DateTime!',
      createdBy: embedded('User', 'created_by'),
      defaultQueue: reference('ClusterQueue', { cluster: 'id', queue: 'default_queue_id' }),
      description: 'String',
      emoji: 'String',
      name: 'String!',
      organization: reference('Organization'),
      queues: list('ClusterQueue', 'queues', {
        args: { order: { type: 'ClusterQueueOrder', defaultValue: 'key' } },
        choose: (rows, { order }: { order: string }) =>
          order === 'key' ? rows.toSorted((a, b) => compare(a['key'], b['key'])) : rows.toReversed(),
      }),
      url: from('web_url', 'String!'),
      uuid: 'ID!',
    },
  },
  enums: { ClusterQueueOrder: 'KEY RECENTLY_CREATED' },
  mutations: {
    clusterCreate: {
      route: 'POST /clusters',
      at: { organizationId: 'Organization' },
      input: { ...settings, name: 'String!' },
      payload: { cluster: written('Cluster!') },
    },
    clusterUpdate: {
      route: 'PUT',
      at: ofCluster,
      input: { ...settings, defaultQueueId: idOf('ClusterQueue', 'default_queue_id'), name: 'String' },
      payload: { cluster: written('Cluster!') },
    },
    clusterDelete: { route: 'DELETE', at: ofCluster, payload: { deletedClusterId: givenId } },
  },
}

const compare = (a: unknown, b: unknown) => (String(a) < String(b) ? -1 : 1)
