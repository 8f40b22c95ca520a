import { connectionSdl } from '../connections.ts'
import { toJob } from './job.ts'
import { idInUrl, organizationOf, queueOf, userIn } from '../fields.ts'
import { rowOf } from '../rest.ts'
import type { Asked, Part, Thing } from '../node.ts'

export const agentPart: Part = {
  sdl: /* GraphQL */ `
    ${connectionSdl('Agent')}
    type Agent implements Node {
      clusterQueue: ClusterQueue
      connectedAt: DateTime
      connectionState: String!
      createdAt: DateTime
      disconnectedAt: DateTime
      hostname: String
      id: ID!
      ipAddress: String
      isRunningJob: Boolean!
      job: Job
      lostAt: DateTime
      metaData: [String!]
      name: String!
      organization: Organization
      paused: Boolean!
      pausedAt: DateTime
      pausedBy: User
      pausedNote: String
      pausedTimeoutInMinutes: Int
      priority: Int
      userAgent: String
      uuid: String!
      version: String
    }
  `,
  resolvers: {
    Agent: {
      async clusterQueue(agent: Thing, _: object, { rest }: Asked) {
        const url = await agent.get('cluster_queue_url')
        const [cluster, queue] = [idInUrl(url, 'clusters'), idInUrl(url, 'queues')]
        return cluster === null || queue === null ? null : queueOf(rest, agent.org, cluster, queue)
      },
      isRunningJob: async (agent: Thing) => (await agent.get('job')) !== null,
      async job(agent: Thing) {
        const job = await agent.get('job')
        return job === null ? null : toJob(agent.org, rowOf(job))
      },
      organization: ({ org }: Thing, _: object, { rest }: Asked) => organizationOf(rest, org),
      pausedBy: userIn('paused_by'),
    },
  },
}
