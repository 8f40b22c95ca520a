import { badRequest } from '../../lib/errors.ts'
import { embedded, env, nodeAtUrl } from '../fields.ts'
import { addressed, byId, givenId, ifGiven, written, writtenEdge } from '../mutations.ts'
import { rowOf, textOf } from '../rest.ts'
import type { BodyInput, BodyInputs, Part } from '../table.ts'
import { bySlugOrUuid } from './find.ts'

const envText: BodyInput = { type: 'String', toBody: readEnv }

const settings: BodyInputs = {
  branch: 'String',
  commit: 'String',
  cronline: ifGiven('String'),
  enabled: ifGiven('Boolean'),
  env: envText,
  label: 'String',
  message: 'String',
}

export const pipelineSchedulePart: Part = {
  queries: {
    pipelineSchedule: {
      ...bySlugOrUuid(
        'PipelineSchedule',
        '`slug` must name organization, pipeline and UUID of the schedule.',
      ),
      description: 'The slug is that of the organization, of the pipeline, and the UUID: acme/app/018f….',
      args: { slug: 'ID!' },
    },
  },
  nodes: {
    PipelineSchedule: {
      branch: 'String',
      commit: 'String',
      createdAt: 'DateTime',
      createdBy: embedded('User', 'created_by'),
      cronline: 'String!',
      enabled: 'Boolean',
      env,
      failedAt: 'DateTime',
      failedMessage: 'String',
      label: 'String!',
      message: 'String',
      nextBuildAt: 'DateTime',
      pipeline: {
        type: 'Pipeline',
        async resolve(source, _, context) {
          const { id, url } = rowOf(await source.get('pipeline'))
          return nodeAtUrl(context, 'Pipeline', url, id)
        },
      },
      uuid: 'String!',
    },
  },
  mutations: {
    pipelineScheduleCreate: {
      route: 'POST /schedules',
      at: { pipelineID: 'Pipeline' },
      input: { ...settings, env: { ...envText, description: 'One variable a line: NAME=value.' } },
      payload: {
        pipeline: addressed('Pipeline!'),
        pipelineScheduleEdge: writtenEdge('PipelineScheduleEdge!'),
      },
    },
    pipelineScheduleUpdate: {
      route: 'PUT',
      at: byId('PipelineSchedule'),
      input: settings,
      payload: { pipelineSchedule: written('PipelineSchedule!') },
    },
    pipelineScheduleDelete: {
      route: 'DELETE',
      at: byId('PipelineSchedule'),
      payload: { deletedPipelineScheduleID: givenId, pipeline: addressed('Pipeline') },
    },
  },
}

function readEnv(text: unknown): Record<string, string> {
  const lines = textOf(text)
    .split('\n')
    .filter((line) => line.trim() !== '')
  return Object.fromEntries(
    lines.map((line) => {
      const [, name = '', value = ''] = /^\s*([^=\s]+)=(.*?)\r?$/.exec(line) ?? []
      if (name === '') throw badRequest(`A line of \`env\` is not NAME=value: ${line.slice(0, 100)}`)
      return [name, unquoted(value)]
    }),
  )
}

/** Clients write values in quotes, with escapes. */
function unquoted(value: string): string {
  const [, single] = /^'(.*)'$/.exec(value) ?? []
  if (single !== undefined) return single
  if (!/^".*"$/.test(value)) return value
  try {
    return String(JSON.parse(value))
  } catch {
    return value.slice(1, -1)
  }
}
