import { Type } from 'typebox'
import { integer, oneOf, orNull, text, Timestamp, Uuid, uuid } from '../../schema.ts'
import { executionTags } from '../test_runs/schema.ts'

export const TestExecution = Type.Object(
  {
    id: Uuid,
    run_id: uuid('UUID of the test run.'),
    job_id: orNull(
      uuid('UUID of the job of the build that the test ran in; null when the sender did not say.'),
    ),
    result: oneOf(['passed', 'failed', 'skipped', 'unknown'], 'How the test ended.'),
    duration: orNull(Type.Number({ description: 'Seconds.' })),
    failure_reason: orNull(text('First line of why the test failed; null when it is not known.')),
    branch: orNull(Type.String()),
    commit_sha: orNull(text('Commit that was tested; null when the sender did not say.')),
    tags: executionTags,
    created_at: Timestamp,
    build: orNull(
      Type.Object({
        id: Uuid,
        number: integer('Number of the build within its pipeline.'),
        pipeline_slug: text('Slug of its pipeline.'),
      }),
      'The build that the test ran in; null when there is none.',
    ),
  },
  { title: 'TestExecution' },
)
