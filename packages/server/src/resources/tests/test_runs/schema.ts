import { Type } from 'typebox'
import { orNull, Timestamp, Uuid } from '../../schema.ts'

const TextOrNull = orNull(Type.String())
const Count = Type.Integer({ minimum: 0 })

export const FailureExpanded = Type.Array(
  Type.Object({ expanded: Type.Array(Type.String()), backtrace: Type.Array(Type.String()) }),
  { description: 'All that the failure says; only where it was asked for.' },
)

const TestFailure = Type.Object(
  {
    scope: Type.String(),
    name: Type.String(),
    location: TextOrNull,
    file_name: TextOrNull,
    failure_reason: TextOrNull,
    failure_expanded: Type.Optional(FailureExpanded),
    duration: orNull(Type.Number({ description: 'Seconds.' })),
  },
  { title: 'TestFailure' },
)

export const TestRun = Type.Object(
  {
    id: Uuid,
    url: Type.String(),
    suite: Type.Object({ id: Uuid, slug: Type.String() }),
    build_id: orNull(Uuid),
    state: Type.Union([Type.Literal('running'), Type.Literal('finished')], {
      description: 'A run goes on for as long as its build does.',
    }),
    result: Type.Union(
      [Type.Literal('pending'), Type.Literal('passed'), Type.Literal('failed'), Type.Literal('stale')],
      {
        description: '`failed` as soon as one test has failed; `stale` when the run ended without a result.',
      },
    ),
    branch: TextOrNull,
    commit_sha: TextOrNull,
    results_count: Count,
    passed_count: Count,
    failed_count: Count,
    skipped_count: Count,
    unknown_count: Count,
    duration: Type.Number({ description: 'Seconds, all tests together.' }),
    failures: Type.Array(TestFailure, {
      description: 'The first of them; `failed_count` says how many there are.',
    }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'TestRun' },
)

export const FailedExecution = Type.Object(
  {
    execution_id: Uuid,
    run_id: Uuid,
    run_name: Type.String(),
    run_url: Type.String(),
    test_id: Uuid,
    test_name: Type.String(),
    test_url: Type.String(),
    branch: TextOrNull,
    commit_sha: TextOrNull,
    created_at: Timestamp,
    duration: orNull(Type.Number({ description: 'Seconds.' })),
    location: TextOrNull,
    failure_reason: TextOrNull,
    failure_expanded: Type.Optional(FailureExpanded),
  },
  { title: 'FailedExecution' },
)
