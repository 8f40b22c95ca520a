import { ok } from '../../../http/answer.ts'
import { alsoAt, route } from '../../../http/route.ts'
import { UpdatedExecutionTags, UpdateExecutionTags } from './schema.ts'
import { updateExecutionTags } from './update.ts'

const updateExecutionTagsRoute = route({
  method: 'PUT',
  url: '/v2/organizations/:org/suites/:suite/execution-tags',
  summary: 'Replace the tags that were set on executions of tests afterwards',
  scope: 'write_suites',
  permission: 'member',
  body: UpdateExecutionTags,
  answers: { 200: UpdatedExecutionTags },
  errors: {
    403: 'The caller manages neither the suite nor the pipeline that it belongs to.',
    422: 'The body is not valid, or a tag has a wrong name.',
  },
  async handler({ ctx, org, caller, params, body }) {
    const executions_count = await updateExecutionTags({ ctx, org, caller }, params.suite, body.executions)
    return ok({ executions_count })
  },
})

export const executionTagRoutes = [
  updateExecutionTagsRoute,
  alsoAt('/v2/analytics/organizations/:org/suites/:suite/execution-tags', updateExecutionTagsRoute),
]
