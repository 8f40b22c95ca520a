import { Type, type Static } from 'typebox'
import { boolean, count, oneOf, optional, orNull, text, timestamp, Uuid } from '../../schema.ts'
import { FailureExpanded } from '../test_runs/schema.ts'

const Seconds = Type.Number({ description: 'Seconds.' })

const SecondsOrNull = orNull(Type.Number({ description: 'Seconds; null: no result has a duration.' }))

const periods = ['1hour', '4hours', '1day', '7days', '14days', '28days', '90days'] as const

export type Period = (typeof periods)[number]

const states = ['enabled', 'muted', 'skipped'] as const

const Labels = Type.Array(Type.String(), {
  description: 'Labels of the test. `flaky` is set and removed by the server, too.',
})

const Owner = orNull(
  text(
    'Who owns the file of the test by CODEOWNERS of the default branch, separated by spaces; null: nobody, or not known.',
  ),
)

const WebUrl = text('The page of the test.')

const Named = Type.Object({ id: Uuid, name: text('Name of the person.') })

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
    web_url: WebUrl,
    file_name: orNull(text('File that the test is in; null when the sender did not say.')),
    owner: Owner,
    labels: Labels,
    state: oneOf(
      states,
      'Whether the test counts: failures of a muted one do not, and a skipped one is not to run.',
    ),
    quarantine: orNull(
      Type.Object({
        since: timestamp('Since when the test does not count.'),
        by: orNull(
          Named,
          'Who muted or skipped the test; null: a rule of the suite did, or the person is gone.',
        ),
        owner: orNull(Named, 'Who is to repair the test; null: nobody.'),
        reason: orNull(text('Why; null: nothing was said.')),
        expires_at: orNull(timestamp('When the test is enabled again; null: never.')),
      }),
      'Why and for how long the test does not count; null when it is enabled.',
    ),
    first_seen_at: timestamp('When the test ran first.'),
    last_seen_at: timestamp('When the test ran last, to the hour.'),
    ...counts,
    last_failed_on: orNull(
      Type.String({
        format: 'date',
        description: 'The last day in the period on which the test failed, in UTC; null: it did not.',
      }),
    ),
    duration_avg: SecondsOrNull,
    duration_sum: SecondsOrNull,
    duration_min: SecondsOrNull,
    duration_max: SecondsOrNull,
    duration_p50: orNull(
      Type.Number({
        description: 'Half of the newest results took at most so many seconds; null: none has a duration.',
      }),
    ),
    duration_p95: orNull(
      Type.Number({
        description:
          'Of twenty of the newest results, nineteen took at most so many seconds; null: none has a duration.',
      }),
    ),
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

export const Known = boolean(
  'Whether the suite has the test. False while only builds of forks have run it: `url` then answers 404.',
)

export const BuildTest = Type.Object(
  {
    ...identity,
    url: Type.String(),
    web_url: WebUrl,
    file_name: orNull(text('File that the test is in; null when the sender did not say.')),
    known: Known,
    state: oneOf(
      states,
      'Whether the test counts: failures of a muted one do not, and a skipped one is not to run.',
    ),
    labels: Labels,
    owner: Owner,
    ...counts,
    duration_avg: SecondsOrNull,
    duration_sum: SecondsOrNull,
    duration_min: SecondsOrNull,
    duration_max: SecondsOrNull,
    latest_fail: optional(LatestFail, 'The last failure; null when there was none, absent unless asked for.'),
  },
  { title: 'BuildTest' },
)

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

const sorted = [
  'duration_avg',
  'duration_sum',
  'duration_min',
  'duration_max',
  'reliability',
  'last_failed',
  'first_seen',
] as const

export const TestListQuery = {
  ...TestWindow,
  label: Type.Optional(text('Tests with this label.')),
  labels: Type.Optional(
    text('Tests with all of these labels, separated by commas; with `!`, without the label.'),
  ),
  state: Type.Optional(oneOf(states, 'Tests in this state.')),
  owners: Type.Optional(
    text('Tests that one of these owns, separated by commas, as CODEOWNERS names them: `@acme/web`.'),
  ),
  search: Type.Optional(
    Type.String({ maxLength: 200, description: 'Tests with this text in scope, name or location.' }),
  ),
  tags: Type.Optional(
    text(
      '`result:~failed`: tests that failed at least once; `result:^failed`: each time. The same with `passed`. ' +
        '`name:value`, separated by commas: tests one of whose newest 10 executions has all of these tags, ' +
        'among the first 5,000 that the other parameters leave, in the order of `sort_by`.',
    ),
  ),
  sort_by: Type.Optional(
    oneOf(
      sorted,
      'What the list is sorted by; default `duration_avg`. `last_failed` and `first_seen` are extensions.',
    ),
  ),
  order: Type.Optional(oneOf(['asc', 'desc'], 'Default `desc`.')),
}

const results = ['failed', 'passed', '^failed', '^passed'] as const

export const BuildTestQuery = {
  result: Type.Optional(oneOf(results, 'Tests that ended so at least once; with `^`, each time.')),
  state: Type.Optional(text('Tests that are now in this state: `enabled`, `muted` or `skipped`.')),
  labels: TestListQuery.labels,
  owners: TestListQuery.owners,
  sort_by: Type.Optional(
    oneOf(
      ['duration_avg', 'duration_sum', 'duration_min', 'duration_max', 'reliability'],
      'What the list is sorted by, within the build. Default: those that failed first.',
    ),
  ),
  order: TestListQuery.order,
  include: Type.Optional(text('`latest_fail` adds the last failure of each test.')),
}

const Reason = Type.String({ maxLength: 1000 })

/** Clients send no body. */
export const Quarantine = Type.Object(
  {
    reason: optional(Reason, 'Why the test does not count for now.'),
    owner_id: Type.Optional(
      Type.String({
        format: 'uuid',
        description: 'UUID of the member who is to repair the test. Default: the caller.',
      }),
    ),
    expires_at: optional(
      Type.String({ format: 'date-time' }),
      'When the test is enabled again: at most 90 days from now, default 14. Administrators may name any time, or null for no end.',
    ),
  },
  { title: 'Quarantine', examples: [{ reason: 'Waits for a port that is taken at times.' }] },
)

export type QuarantineBody = Static<typeof Quarantine>

export const ChangeLabels = Type.Object(
  {
    operator: oneOf(['add', 'remove'], 'Whether the labels are added or removed.'),
    labels: Type.Array(Type.String({ minLength: 1, maxLength: 50, pattern: '^[^,!\\s][^,]*$' }), {
      minItems: 1,
      maxItems: 20,
      description: 'Names of labels, without commas. A test has at most 20.',
    }),
  },
  { title: 'ChangeLabels', examples: [{ operator: 'add', labels: ['slow'] }] },
)

export type ChangeLabelsBody = Static<typeof ChangeLabels>

export const FlakyTest = Type.Object(
  {
    ...identity,
    web_url: WebUrl,
    file_name: orNull(text('File that the test is in; null when the sender did not say.')),
    instances: count('How often the test failed in the period.'),
    latest_occurrence_at: orNull(
      timestamp('When evidence was found last; null: a person has set the label.'),
    ),
    most_recent_instance_at: orNull(timestamp('The same.')),
    last_resolved_at: orNull(timestamp('When a person has removed the label last; null: never.')),
    ownership_team_ids: Type.Array(Uuid, { description: 'Always empty: teams own suites, not tests.' }),
  },
  { title: 'FlakyTest' },
)

export const FlakyQuery = {
  period: TestWindow.period,
  search: TestListQuery.search,
}
