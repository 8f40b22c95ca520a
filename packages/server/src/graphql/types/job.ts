// Jobs. GraphQL has a type for each kind, and one state, FINISHED, for jobs that passed or failed.
import type { RawQuery } from '../../http/query.ts'
import { badRequest, notFound } from '../../lib/errors.ts'
import { isUuid } from '../../lib/ids.ts'
import { connectionSdl } from '../connections.ts'
import { readGlobalId, uuidOf } from '../ids.ts'
import { type Input } from '../mutations.ts'
import { buildOf, clusterOf, idInUrl, pipelineOf, queueOf, userIn } from '../fields.ts'
import { rowOf, textOf, type Row } from '../rest.ts'
import { Thing, type Asked, type Part } from '../node.ts'

const common = /* GraphQL */ `
      build: Build
      createdAt: DateTime
      id: ID!
      label: String
      pipeline: Pipeline
      retried: Boolean!
      retriesCount: Int
      state: JobStates!
      uuid: String!
`

export const jobPart: Part = {
  sdl: /* GraphQL */ `
    ${connectionSdl('Job')}
    extend type Query {
      job(uuid: ID!): Job
    }
    extend type Mutation {
      jobTypeCommandCancel(input: JobTypeCommandCancelInput!): JobTypeCommandCancelPayload
      jobTypeCommandRetry(input: JobTypeCommandRetryInput!): JobTypeCommandRetryPayload
      jobTypeBlockUnblock(input: JobTypeBlockUnblockInput!): JobTypeBlockUnblockPayload
    }
    union Job = JobTypeBlock | JobTypeCommand | JobTypeTrigger | JobTypeWait
    type JobTypeCommand implements Node {
      ${common}
      agent: Agent
      agentQueryRules: [String!]
      cluster: Cluster
      clusterQueue: ClusterQueue
      command: String
      exitStatus: String
      expiredAt: DateTime
      finishedAt: DateTime
      parallelGroupIndex: Int
      parallelGroupTotal: Int
      passed: Boolean!
      priority: JobPriority!
      retriedBy: User
      runnableAt: DateTime
      scheduledAt: DateTime
      signal: String
      softFailed: Boolean!
      startedAt: DateTime
      url: String!
    }
    type JobTypeBlock implements Node {
      ${common}
      isUnblockable: Boolean
      unblockedAt: DateTime
      unblockedBy: User
    }
    type JobTypeTrigger implements Node {
      ${common}
    }
    type JobTypeWait implements Node {
      ${common}
    }
    type JobPriority {
      number: Int
    }
    enum JobStates {
      ACCEPTED
      ASSIGNED
      BLOCKED
      BLOCKED_FAILED
      BROKEN
      CANCELED
      CANCELING
      EXPIRED
      FINISHED
      LIMITED
      LIMITING
      PENDING
      RESERVED
      RUNNING
      SCHEDULED
      SKIPPED
      TIMED_OUT
      TIMING_OUT
      UNBLOCKED
      UNBLOCKED_FAILED
      WAITING
      WAITING_FAILED
    }
    enum JobTypes {
      BLOCK
      COMMAND
      TRIGGER
      WAIT
    }
    input JobTypeCommandCancelInput {
      clientMutationId: String
      id: ID!
    }
    type JobTypeCommandCancelPayload {
      clientMutationId: String
      jobTypeCommand: JobTypeCommand!
    }
    input JobTypeCommandRetryInput {
      clientMutationId: String
      id: ID!
    }
    type JobTypeCommandRetryPayload {
      clientMutationId: String
      "The job that was retried."
      jobTypeCommand: JobTypeCommand!
      "The new job."
      retriedInJobTypeCommand: JobTypeCommand!
    }
    input JobTypeBlockUnblockInput {
      clientMutationId: String
      "Answers by the keys of the fields: an object, or its text."
      fields: JSON
      id: ID!
    }
    type JobTypeBlockUnblockPayload {
      clientMutationId: String
      jobTypeBlock: JobTypeBlock!
    }
  `,
  resolvers: {
    Query: {
      async job(_: unknown, { uuid }: { uuid: string }, { rest, places }: Asked) {
        const place = isUuid(uuid) ? await places.find('Job', uuid) : null
        const row = place && (await rest.find(job, place))
        return place && row && toJob(place.org, row)
      },
    },
    Mutation: {
      async jobTypeCommandCancel(_: unknown, { input }: Input<{ id: string }>, asked: Asked) {
        const place = await placeOf(asked, input.id, 'JobTypeCommand')
        const row = await asked.rest.write('PUT', `${job}/cancel`, place)
        return { clientMutationId: input.clientMutationId, jobTypeCommand: toJob(place.org, row) }
      },
      async jobTypeCommandRetry(_: unknown, { input }: Input<{ id: string }>, asked: Asked) {
        const place = await placeOf(asked, input.id, 'JobTypeCommand')
        const row = await asked.rest.write('PUT', `${job}/retry`, place)
        const retried = await asked.rest.get(job, place)
        return {
          clientMutationId: input.clientMutationId,
          jobTypeCommand: toJob(place.org, retried),
          retriedInJobTypeCommand: toJob(place.org, row),
        }
      },
      async jobTypeBlockUnblock(
        _: unknown,
        { input }: Input<{ id: string; fields?: unknown }>,
        asked: Asked,
      ) {
        const place = await placeOf(asked, input.id, 'JobTypeBlock')
        const { fields } = input
        const body = fields === undefined || fields === null || fields === '' ? {} : { fields }
        const row = await asked.rest.write('PUT', `${job}/unblock`, place, body)
        return { clientMutationId: input.clientMutationId, jobTypeBlock: toJob(place.org, row) }
      },
    },
    JobTypeCommand: {
      ...fieldsOfAll(),
      async agent(source: Thing, _: object, { rest }: Asked) {
        const row = await source.get('agent')
        if (row === null) return null
        const params = { org: source.org, agent: textOf(rowOf(row)['id']) }
        // The agent in a job has fewer fields.
        return new Thing('Agent', source.org, rowOf(row), () =>
          rest.get('/v2/organizations/:org/agents/:agent', params),
        )
      },
      async cluster(source: Thing, _: object, { rest }: Asked) {
        const cluster = await source.text('cluster_id')
        return cluster === '' ? null : clusterOf(rest, source.org, cluster)
      },
      async clusterQueue(source: Thing, _: object, { rest }: Asked) {
        const [cluster, queue] = [await source.text('cluster_id'), await source.text('cluster_queue_id')]
        return queue === '' ? null : queueOf(rest, source.org, cluster, queue)
      },
      async exitStatus(source: Thing) {
        const status = await source.get('exit_status')
        return typeof status === 'number' ? String(status) : null
      },
      passed: async (source: Thing) =>
        (await source.get('state')) === 'passed' || (await source.get('soft_failed')) === true,
      retriedBy: userIn('retried_by'),
      url: (source: Thing) => source.get('web_url'),
    },
    JobTypeBlock: {
      ...fieldsOfAll(),
      isUnblockable: (source: Thing) => source.get('unblockable'),
      unblockedBy: userIn('unblocked_by'),
    },
    JobTypeTrigger: fieldsOfAll(),
    JobTypeWait: fieldsOfAll(),
  },
}

function fieldsOfAll() {
  return {
    async build(source: Thing, _: object, { rest }: Asked) {
      const url = await source.get('build_url')
      return buildOf(rest, source.org, idInUrl(url, 'pipelines') ?? '', idInUrl(url, 'builds') ?? '')
    },
    label: (source: Thing) => source.get('name'),
    async pipeline(source: Thing, _: object, { rest }: Asked) {
      return pipelineOf(rest, source.org, idInUrl(await source.get('build_url'), 'pipelines') ?? '')
    },
    async state(source: Thing) {
      return stateOf(source.known)
    },
  }
}

const job = '/v2/organizations/:org/jobs/:job'

const typesByKind: Readonly<Record<string, string>> = {
  manual: 'JobTypeBlock',
  script: 'JobTypeCommand',
  trigger: 'JobTypeTrigger',
  waiter: 'JobTypeWait',
}

const kindsByType: Readonly<Record<string, string>> = {
  BLOCK: 'manual',
  COMMAND: 'script',
  TRIGGER: 'trigger',
  WAIT: 'waiter',
}

export const toJob = (org: string, row: Row): Thing =>
  new Thing(typesByKind[textOf(row['type'])] ?? 'JobTypeCommand', org, row)

/** Job ids have the type `Job` in REST. Clients also make ids with the type of GraphQL. */
export const isJobType = (type: string): boolean =>
  type === 'Job' || Object.values(typesByKind).includes(type)

async function placeOf({ rest, places }: Asked, id: string, type: string) {
  const read = readGlobalId(id)
  if (!isUuid(id) && (read === null || !isJobType(read.type))) {
    throw badRequest(`${JSON.stringify(id.slice(0, 100))} is not the id of a job.`)
  }
  const place = await places.get('Job', read?.uuid ?? id)
  const row = await rest.find(job, place)
  if (row === null) throw notFound('No job found')
  const found = toJob(place.org, row).type
  if (found !== type) throw badRequest(`The job is a ${found}, not a ${type}.`)
  return place
}

const stateOf = (row: Row): string => {
  const state = textOf(row['state'])
  return state === 'passed' || state === 'failed' ? 'FINISHED' : state.toUpperCase()
}

const statesOf = (state: string): string[] =>
  state === 'FINISHED' ? ['passed', 'failed'] : [state.toLowerCase()]

export type JobArgs = {
  agentQueryRules?: string[] | null
  clusterQueue?: string[] | null
  state?: string[] | null
  type?: string[] | null
}

export const isInState = (row: Row, states: string[] | null | undefined): boolean =>
  !states || states.length === 0 || states.includes(stateOf(row))

export const isOfType = (row: Row, types: string[] | null | undefined): boolean =>
  !types || types.length === 0 || types.some((type) => kindsByType[type] === row['type'])

/** REST shows `limiting` and `reserved` as `scheduled`, so these filters find nothing else. */
export const jobFilter = ({ agentQueryRules, clusterQueue, state, type }: JobArgs): RawQuery => ({
  ...(state?.length ? { state: [...new Set(state.flatMap(statesOf))] } : {}),
  ...(type?.length ? { type: type.map((name) => kindsByType[name] ?? name) } : {}),
  ...(clusterQueue?.length ? { cluster_queue_id: clusterQueue.map((id) => uuidOf('ClusterQueue', id)) } : {}),
  ...(agentQueryRules?.length ? { agent_query_rules: agentQueryRules } : {}),
})
