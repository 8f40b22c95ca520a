import { Type, type Static } from 'typebox'
import { count } from '../../schema.ts'

export const UpdateExecutionTags = Type.Object(
  {
    executions: Type.Array(
      Type.Object({
        id: Type.String({ format: 'uuid', description: 'UUID of the execution.' }),
        tags: Type.Record(Type.String(), Type.String({ maxLength: 255 }), {
          description: 'At most 10. Names begin with `mut.` and have at most 50 characters. Empty: none.',
          examples: [{ 'mut.reason': 'api_timeout' }],
        }),
      }),
      { maxItems: 1000, description: 'What is not named here keeps its tags.' },
    ),
  },
  {
    title: 'UpdateExecutionTags',
    examples: [
      { executions: [{ id: '01885682-55a7-44f5-84f3-0402fb452e66', tags: { 'mut.reason': 'api_timeout' } }] },
    ],
  },
)

export const UpdatedExecutionTags = Type.Object(
  { executions_count: count('How many executions were named.') },
  { title: 'UpdatedExecutionTags' },
)

export type ExecutionTags = Static<typeof UpdateExecutionTags>['executions'][number]
