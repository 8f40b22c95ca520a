import { Type } from 'typebox'
import { orNull, Timestamp, Uuid } from '../../schema.ts'
import { FailureExpanded } from '../test_runs/schema.ts'

const TextOrNull = orNull(Type.String())
const Count = Type.Integer({ minimum: 0 })
const Seconds = Type.Number({ description: 'Seconds.' })

const identity = {
  id: Uuid,
  scope: Type.String(),
  name: Type.String(),
  location: TextOrNull,
}

const counts = {
  executions_count: Count,
  executions_count_by_result: Type.Object({
    passed: Count,
    failed: Count,
    skipped: Type.Optional(Count),
    unknown: Type.Optional(Count),
  }),
  reliability: orNull(
    Type.Number({
      description: 'Share of the runs that passed, of those that passed or failed; null: none did.',
    }),
  ),
}

export const Test = Type.Object(
  {
    ...identity,
    url: Type.String(),
    file_name: TextOrNull,
    labels: Type.Array(Type.String()),
    ...counts,
    duration_avg: Seconds,
    duration_sum: Seconds,
    duration_min: Seconds,
    duration_max: Seconds,
  },
  { title: 'Test' },
)

const LatestFail = Type.Object({
  id: Uuid,
  timestamp: Timestamp,
  duration: orNull(Seconds),
  failure_reason: TextOrNull,
  failure_expanded: FailureExpanded,
})

export const BuildTest = Type.Object(
  {
    ...identity,
    state: Type.Literal('enabled', {
      description: 'Always `enabled`: tests cannot be muted or skipped here.',
    }),
    labels: Type.Array(Type.Object({ name: Type.String(), color: Type.String() })),
    ...counts,
    latest_fail: Type.Optional(orNull(LatestFail)),
  },
  { title: 'BuildTest' },
)

const results = ['failed', 'passed', '^failed', '^passed'] as const

export const BuildTestQuery = {
  result: Type.Optional(
    Type.Union(
      results.map((result) => Type.Literal(result)),
      { description: 'Tests that ended so at least once; with `^`, each time.' },
    ),
  ),
  state: Type.Optional(Type.String({ description: 'Tests in this state; all of them are `enabled`.' })),
  include: Type.Optional(Type.String({ description: '`latest_fail` adds the last failure of each test.' })),
}

export const FindTest = Type.Object(
  {
    scope: Type.Optional(orNull(Type.String({ maxLength: 1000 }))),
    name: Type.String({ minLength: 1, maxLength: 1000 }),
  },
  { title: 'FindTest', examples: [{ scope: 'Basket', name: 'adds an item' }] },
)
