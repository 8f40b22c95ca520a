import { badRequest } from '../../lib/errors.ts'
import { connectionSdl } from '../connections.ts'
import { uuidOf } from '../ids.ts'
import { bodyOf, givenOf, type Input } from '../mutations.ts'
import { pipelineOf, userIn } from '../fields.ts'
import { rowOf, textOf } from '../rest.ts'
import { Thing, type Asked, type Part } from '../node.ts'

export const pipelineSchedulePart: Part = {
  sdl: /* GraphQL */ `
    ${connectionSdl('PipelineSchedule')}
    extend type Query {
      "The slug is that of the organization, of the pipeline, and the UUID: acme/app/018f…."
      pipelineSchedule(slug: ID!): PipelineSchedule
    }
    extend type Mutation {
      pipelineScheduleCreate(input: PipelineScheduleCreateInput!): PipelineScheduleCreatePayload
      pipelineScheduleUpdate(input: PipelineScheduleUpdateInput!): PipelineScheduleUpdatePayload
      pipelineScheduleDelete(input: PipelineScheduleDeleteInput!): PipelineScheduleDeletePayload
    }
    type PipelineSchedule implements Node {
      branch: String
      commit: String
      createdAt: DateTime
      createdBy: User
      cronline: String!
      enabled: Boolean
      env: [String!]
      failedAt: DateTime
      failedMessage: String
      id: ID!
      label: String!
      message: String
      nextBuildAt: DateTime
      pipeline: Pipeline
      uuid: String!
    }
    input PipelineScheduleCreateInput {
      branch: String
      clientMutationId: String
      commit: String
      cronline: String
      enabled: Boolean
      "One variable a line: NAME=value."
      env: String
      label: String
      message: String
      pipelineID: ID!
    }
    type PipelineScheduleCreatePayload {
      clientMutationId: String
      pipeline: Pipeline!
      pipelineScheduleEdge: PipelineScheduleEdge!
    }
    input PipelineScheduleUpdateInput {
      branch: String
      clientMutationId: String
      commit: String
      cronline: String
      enabled: Boolean
      env: String
      id: ID!
      label: String
      message: String
    }
    type PipelineScheduleUpdatePayload {
      clientMutationId: String
      pipelineSchedule: PipelineSchedule!
    }
    input PipelineScheduleDeleteInput {
      clientMutationId: String
      id: ID!
    }
    type PipelineScheduleDeletePayload {
      clientMutationId: String
      deletedPipelineScheduleID: ID!
      pipeline: Pipeline
    }
  `,
  resolvers: {
    Query: {
      async pipelineSchedule(_: unknown, { slug }: { slug: string }, { rest }: Asked) {
        const [org, pipeline, id, ...more] = slug.split('/')
        if (!org || !pipeline || !id || more.length > 0) {
          throw badRequest('`slug` must name organization, pipeline and UUID of the schedule.')
        }
        const row = await rest.find(schedule, { org, pipeline, schedule: id })
        return row && new Thing('PipelineSchedule', org, row)
      },
    },
    Mutation: {
      async pipelineScheduleCreate(
        _: unknown,
        { input }: Input<ScheduleInput & { pipelineID: string }>,
        asked: Asked,
      ) {
        const place = await asked.places.get('Pipeline', uuidOf('Pipeline', input.pipelineID))
        const row = await asked.rest.write('POST', schedules, place, scheduleBody(input))
        return {
          clientMutationId: input.clientMutationId,
          pipeline: pipelineOf(asked.rest, place.org, place['pipeline'] ?? ''),
          pipelineScheduleEdge: { cursor: '', node: new Thing('PipelineSchedule', place.org, row) },
        }
      },
      async pipelineScheduleUpdate(
        _: unknown,
        { input }: Input<ScheduleInput & { id: string }>,
        asked: Asked,
      ) {
        const place = await asked.places.get('PipelineSchedule', uuidOf('PipelineSchedule', input.id))
        const row = await asked.rest.write('PUT', schedule, place, scheduleBody(input))
        const pipelineSchedule = new Thing('PipelineSchedule', place.org, row)
        return { clientMutationId: input.clientMutationId, pipelineSchedule }
      },
      async pipelineScheduleDelete(_: unknown, { input }: Input<{ id: string }>, asked: Asked) {
        const place = await asked.places.get('PipelineSchedule', uuidOf('PipelineSchedule', input.id))
        await asked.rest.write('DELETE', schedule, place)
        return {
          clientMutationId: input.clientMutationId,
          deletedPipelineScheduleID: input.id,
          pipeline: pipelineOf(asked.rest, place.org, place['pipeline'] ?? ''),
        }
      },
    },
    PipelineSchedule: {
      createdBy: userIn('created_by'),
      env: async (source: Thing) =>
        Object.entries(rowOf(await source.get('env'))).map(([name, value]) => `${name}=${String(value)}`),
      async pipeline(source: Thing, _: object, { rest }: Asked) {
        const { id, slug } = rowOf(await source.get('pipeline'))
        return pipelineOf(rest, source.org, textOf(slug), textOf(id))
      },
    },
  },
}

const schedules = '/v2/organizations/:org/pipelines/:pipeline/schedules'
const schedule = `${schedules}/:schedule`

type ScheduleInput = { env?: string | null }

const scheduleBody = (input: ScheduleInput) => ({
  ...bodyOf(input, { branch: 'branch', commit: 'commit', label: 'label', message: 'message' }),
  ...givenOf(input, { cronline: 'cronline', enabled: 'enabled' }),
  ...(input.env === undefined ? {} : { env: readEnv(input.env ?? '') }),
})

/** One variable a line. */
function readEnv(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return Object.fromEntries(
    lines.map((line) => {
      const [, name = '', value = ''] = /^\s*([^=\s]+)=(.*?)\r?$/.exec(line) ?? []
      if (name === '') throw badRequest(`A line of \`env\` is not NAME=value: ${line.slice(0, 100)}`)
      return [name, value]
    }),
  )
}
