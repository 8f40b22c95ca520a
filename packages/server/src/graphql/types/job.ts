// Jobs. GraphQL has a type for each kind, and one state, FINISHED, for jobs that passed or failed.
import type { RawQuery } from '../../http/query.ts'
import { badRequest, notFound } from '../../lib/errors.ts'
import { isUuid } from '../../lib/ids.ts'
import { urlOf, type Address } from '../addresses.ts'
import { atUrl, embedded, from, reference } from '../fields.ts'
import { uuidOf } from '../ids.ts'
import { byId, written } from '../mutations.ts'
import { findAt, findById, Node, nodeAt, typeOf, type GraphqlContext } from '../node.ts'
import { rowOf, textOf, type Row } from '../rest.ts'
import type { Fields, Part } from '../table.ts'

const ofCommand = { at: byId('Job'), check: requireType('JobTypeCommand') }

const common: Fields = {
  build: atUrl('Build', 'build_url'),
  createdAt: 'DateTime',
  label: from('name', 'String'),
  pipeline: atUrl('Pipeline', 'build_url'),
  retried: 'Boolean!',
  retriesCount: 'Int',
  state: { type: 'JobStates!', resolve: ({ known }) => stateOf(known) },
  uuid: 'String!',
}

export const jobPart: Part = {
  queries: {
    job: {
      type: 'Job',
      args: { uuid: 'ID!' },
      resolve: (_, { uuid }: { uuid: string }, context) =>
        isUuid(uuid) ? findById(context, { type: 'Job', uuid, second: null }) : null,
    },
  },
  mutations: {
    jobTypeCommandCancel: {
      ...ofCommand,
      route: 'PUT /cancel',
      payload: { jobTypeCommand: written('JobTypeCommand!') },
    },
    jobTypeCommandRetry: {
      ...ofCommand,
      route: 'PUT /retry',
      payload: {
        jobTypeCommand: {
          type: 'JobTypeCommand!',
          description: 'The job that was retried.',
          resolve: async ({ address }, _, { rest }) =>
            new Node('Job', address, await rest.get(urlOf('Job'), address)),
        },
        retriedInJobTypeCommand: { ...written('JobTypeCommand!'), description: 'The new job.' },
      },
    },
    jobTypeBlockUnblock: {
      route: 'PUT /unblock',
      at: byId('Job'),
      check: requireType('JobTypeBlock'),
      input: {
        fields: {
          type: 'JSON',
          description: 'Answers by the keys of the fields: an object, or its text.',
          ifGiven: true,
          toBody: (fields) => (fields === '' ? undefined : fields),
        },
      },
      payload: { jobTypeBlock: written('JobTypeBlock!') },
    },
  },
  unions: { Job: ['JobTypeBlock', 'JobTypeCommand', 'JobTypeTrigger', 'JobTypeWait'] },
  nodes: {
    JobTypeCommand: {
      ...common,
      agent: {
        type: 'Agent',
        async resolve(source, _, context) {
          const row = await source.get('agent')
          const address = { ...source.address, agent: textOf(rowOf(row)['id']) }
          // The agent in a job has fewer fields.
          return row && nodeAt(context, 'Agent', address, rowOf(row))
        },
      },
      agentQueryRules: '[String!]',
      cluster: reference('Cluster', { cluster: 'cluster_id' }),
      clusterQueue: reference('ClusterQueue', { cluster: 'cluster_id', queue: 'cluster_queue_id' }),
      command: 'String',
      exitStatus: {
        type: 'String',
        async resolve(source) {
          const status = await source.get('exit_status')
          return typeof status === 'number' ? String(status) : null
        },
      },
      expiredAt: 'DateTime',
      finishedAt: 'DateTime',
      parallelGroupIndex: 'Int',
      parallelGroupTotal: 'Int',
      passed: {
        type: 'Boolean!',
        resolve: async (source) =>
          (await source.get('state')) === 'passed' || (await source.get('soft_failed')) === true,
      },
      priority: embedded('JobPriority!', 'priority'),
      retriedBy: embedded('User', 'retried_by'),
      runnableAt: 'DateTime',
      scheduledAt: 'DateTime',
      signal: 'String',
      softFailed: 'Boolean!',
      startedAt: 'DateTime',
      url: from('web_url', 'String!'),
      waiting: {
        type: 'JobWaiting!',
        description:
          'Why the job has not started, and when it probably starts. Each takes a request of its own.',
        async resolve(source, _, { rest }) {
          const address = { ...source.address, job: await source.text('id') }
          return new Node('JobWaiting', address, await rest.get(`${urlOf('Job')}/waiting`, address))
        },
      },
    },
    JobTypeBlock: {
      ...common,
      isUnblockable: from('unblockable', 'Boolean'),
      unblockedAt: 'DateTime',
      unblockedBy: embedded('User', 'unblocked_by'),
    },
    JobTypeTrigger: common,
    JobTypeWait: common,
  },
  objects: {
    JobPriority: { number: 'Int' },
    JobWaiting: {
      code: 'String!',
      eligibleAgents: 'Int',
      estimatedStartAt: 'DateTime',
      estimateUnknown: embedded('JobEstimateUnknown', 'estimate_unknown'),
      jobsAhead: 'Int',
      reason: 'String!',
    },
    JobEstimateUnknown: { code: 'String!', reason: 'String!' },
  },
  enums: {
    JobStates: `ACCEPTED ASSIGNED BLOCKED BLOCKED_FAILED BROKEN CANCELED CANCELING EXPIRED FINISHED LIMITED LIMITING
      PENDING RESERVED RUNNING SCHEDULED SKIPPED TIMED_OUT TIMING_OUT UNBLOCKED UNBLOCKED_FAILED WAITING
      WAITING_FAILED`,
    JobTypes: { BLOCK: 'manual', COMMAND: 'script', TRIGGER: 'trigger', WAIT: 'waiter' },
  },
}

function requireType(type: string) {
  return async (context: GraphqlContext, address: Address): Promise<void> => {
    const found = await findAt(context, 'Job', address)
    if (found === null) throw notFound('No job found')
    if (typeOf(found) !== type) throw badRequest(`The job is a ${typeOf(found)}, not a ${type}.`)
  }
}

const stateOf = (row: Row): string => {
  const state = textOf(row['state'])
  return state === 'passed' || state === 'failed' ? 'finished' : state
}

export type JobArgs = {
  agentQueryRules?: string[] | null
  clusterQueue?: string[] | null
  state?: string[] | null
  type?: string[] | null
}

export const isInState = (row: Row, states: string[] | null | undefined): boolean =>
  !states?.length || states.includes(stateOf(row))

/** REST shows `limiting` and `reserved` as `scheduled`, so these filters find nothing else. */
export const jobFilter = ({ agentQueryRules, clusterQueue, state, type }: JobArgs): RawQuery => ({
  ...(state?.length
    ? { state: [...new Set(state.flatMap((name) => (name === 'finished' ? ['passed', 'failed'] : [name])))] }
    : {}),
  ...(type?.length ? { type } : {}),
  ...(clusterQueue?.length ? { cluster_queue_id: clusterQueue.map((id) => uuidOf('ClusterQueue', id)) } : {}),
  ...(agentQueryRules?.length ? { agent_query_rules: agentQueryRules } : {}),
})
