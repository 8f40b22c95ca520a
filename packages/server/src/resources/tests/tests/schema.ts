import { Type } from 'typebox'
import { count, oneOf, optional, orNull, text, timestamp, Uuid } from '../../schema.ts'
import { FailureExpanded } from '../test_runs/schema.ts'

const Seconds = Type.Number({ description: 'Seconds.' })

const SecondsOrNull = orNull(Type.Number({ description: 'Seconds; null: no result has a duration.' }))

const periods = ['1hour', '4hours', '1day', '7days', '14days', '28days', '90days'] as const

export type Period = (typeof periods)[number]

const identity = {
  id: Uuid,
  scope: text('The groups that the test is in.'),
  name: text('Name of the test.'),
  location: orNull(text('Where the test is defined; null when the sender did not say.')),
}

const counts = {
  executions_count: count('How often the test ran.'),
  executions_count_by_result: Type.Object(
    {
      passed: count('How often it passed.'),
      failed: count('How often it failed.'),
      skipped: Type.Optional(count('How often it was skipped; absent when never.')),
      unknown: Type.Optional(count('How often its result was not known; absent when never.')),
    },
    { description: 'How often the test ended in which way.' },
  ),
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
    file_name: orNull(text('File that the test is in; null when the sender did not say.')),
    labels: Type.Array(Type.String(), { description: 'Always empty: tests have no labels here.' }),
    ...counts,
    duration_avg: SecondsOrNull,
    duration_sum: SecondsOrNull,
    duration_min: SecondsOrNull,
    duration_max: SecondsOrNull,
  },
  { title: 'Test' },
)

const wholeDays = 'Results are added up by the day in UTC, so whole days count.'

export const TestWindow = {
  period: Type.Optional(oneOf(periods, `How far back results count; default \`7days\`. ${wholeDays}`)),
  min_timestamp: Type.Optional(text(`Begin of what counts, ISO 8601; not with \`period\`. ${wholeDays}`)),
  max_timestamp: Type.Optional(text(`End of what counts, ISO 8601; not with \`period\`. ${wholeDays}`)),
}

const LatestFail = Type.Object({
  id: Uuid,
  timestamp: timestamp('When the result came in.'),
  duration: orNull(Seconds),
  failure_reason: orNull(text('First line of why the test failed; null when it is not known.')),
  failure_expanded: FailureExpanded,
})

export const BuildTest = Type.Object(
  {
    ...identity,
    state: Type.Literal('enabled', {
      description: 'Always `enabled`: tests cannot be muted or skipped here.',
    }),
    labels: Type.Array(Type.Object({ name: Type.String(), color: text('Color of the label.') }), {
      description: 'Always empty: tests have no labels here.',
    }),
    ...counts,
    latest_fail: optional(LatestFail, 'The last failure; null when there was none, absent unless asked for.'),
  },
  { title: 'BuildTest' },
)

const results = ['failed', 'passed', '^failed', '^passed'] as const

export const BuildTestQuery = {
  result: Type.Optional(oneOf(results, 'Tests that ended so at least once; with `^`, each time.')),
  state: Type.Optional(text('Tests in this state; all of them are `enabled`.')),
  include: Type.Optional(text('`latest_fail` adds the last failure of each test.')),
}

export const FindTest = Type.Object(
  {
    scope: optional(
      Type.String({ maxLength: 1000 }),
      'The groups that the test is in; absent or null: none.',
    ),
    name: Type.String({ minLength: 1, maxLength: 1000, description: 'Name of the test.' }),
  },
  { title: 'FindTest', examples: [{ scope: 'Basket', name: 'adds an item' }] },
)
