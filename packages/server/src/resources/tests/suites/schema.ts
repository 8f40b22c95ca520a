import { Type, type Static } from 'typebox'
import {
  boolean,
  count,
  integer,
  oneOf,
  optional,
  orNull,
  text,
  Timestamp,
  Uuid,
  uuid,
  viewerOf,
} from '../../schema.ts'
import { UserOrNull } from '../../people/user/schema.ts'

const onSameCommit = 'Whether a test that failed and passed with one commit is flaky.'
const transitions =
  'A test that changed so often between passed and failed on the default branch is flaky; null: changes do not count.'
const window = 'In how many of the newest runs of the default branch changes are counted.'
const clearDays = 'After so many days without new evidence a test is no longer flaky.'
const clearExecutions = 'After so many executions without new evidence a test is no longer flaky.'
const rule = 'What becomes of tests that become flaky; null: nothing.'
const ruleDays = 'For how many days the rule mutes or skips a test.'

export const Suite = Type.Object(
  {
    id: Uuid,
    graphql_id: Type.String(),
    organization_id: uuid('UUID of the organization.'),
    slug: Type.String(),
    name: Type.String(),
    url: Type.String(),
    web_url: text('The page of the suite.'),
    default_branch: orNull(text('Branch that is built when none is named, and shown first.')),
    emoji: orNull(text('Emoji in colon syntax, such as `:rocket:`; null when none is set.')),
    color: orNull(text('Background of the emoji, such as `#FFE0F1`; null when none is set.')),
    application_name: orNull(text('What the tests are of, for people; null when none is set.')),
    oidc_policy: Type.Null({ description: 'Always null: results are sent with the token of the suite.' }),
    flaky_on_same_commit: boolean(onSameCommit),
    flaky_transitions: orNull(integer(transitions)),
    flaky_window: integer(window),
    flaky_clear_days: integer(clearDays),
    flaky_clear_executions: integer(clearExecutions),
    quarantine_rule: orNull(oneOf(['muted', 'skipped'], rule)),
    quarantine_days: integer(ruleDays),
    created_at: Timestamp,
    created_by: UserOrNull,
    viewer: viewerOf({
      manage: boolean('Update and delete the suite, and see its token.'),
      quarantine: boolean('Mute, skip, enable and label its tests.'),
    }),
    api_token: Type.Optional(
      orNull(
        text(
          'What results are sent with; only with `show_api_token=true`. Null: nobody was told it, and `rotate_token` makes one that is.',
        ),
      ),
    ),
  },
  { title: 'Suite' },
)

export const runState = oneOf(['running', 'finished'], 'A run goes on for as long as its build does.')

export const runResult = oneOf(
  ['pending', 'passed', 'failed', 'stale'],
  '`failed` as soon as one test has failed; `stale` when the run ended without a result.',
)

const counted = 'in the newest 200 runs of the last 7 days'

export const SuiteFigures = Type.Object(
  {
    tests_count: count(
      'How many tests the suite knows: those that ran in the last 90 days. Of more than 5,000 tests an estimate, for those who do not see all pipelines.',
    ),
    flaky_count: count('How many tests have the label `flaky`.'),
    muted_count: count('How many tests are muted.'),
    skipped_count: count('How many tests are skipped.'),
    reliability: orNull(
      Type.Number({
        description: `Share of the results that passed, of those that passed or failed, ${counted}; null: none did.`,
      }),
    ),
    duration_p50: orNull(
      Type.Number({
        description: `Half of the runs took at most so many seconds, all tests together, ${counted}; null: none has a duration.`,
      }),
    ),
    last_run: orNull(
      Type.Object({
        id: Uuid,
        url: text('Address of the run in the API.'),
        web_url: text('The page of the build of the run, or of the suite where the run has none.'),
        state: runState,
        result: runResult,
        branch: orNull(Type.String()),
        created_at: Timestamp,
      }),
      'The newest run; null: there is none.',
    ),
  },
  {
    description:
      'What is known of its tests and runs, of those that the caller may see and without builds of forks. Only with `include_figures=true`.',
  },
)

export const ListedSuite = Type.Object(
  { ...Suite.properties, figures: Type.Optional(SuiteFigures) },
  { title: 'ListedSuite' },
)

export const IncludeFigures = {
  include_figures: Type.Optional(boolean('Add `figures`: counts of tests, and the last run. Default false.')),
}

export const ShowToken = {
  show_api_token: Type.Optional(
    boolean(
      'Add `api_token`, for those who manage the suite and have the scope `write_suites`. Default false.',
    ),
  ),
}

export const SuiteWithToken = Type.Object(
  {
    ...Suite.properties,
    api_token: text('What results are sent with.'),
  },
  { title: 'SuiteWithToken' },
)

const Name = Type.String({
  maxLength: 255,
  pattern: '[A-Za-z0-9]',
  description: 'Name, for people. Must have a letter or digit, and at most 255 characters.',
})

/** An empty text stands for null, as some clients send it. */
const settings = {
  default_branch: optional(
    Type.String({ maxLength: 255 }),
    'Branch that is built when none is named, and shown first.',
  ),
  emoji: optional(
    Type.String({ maxLength: 100, pattern: '^(:[^\\s:]+:)?$' }),
    'Emoji in colon syntax, such as `:rocket:`; null when none is set.',
  ),
  color: optional(
    Type.String({ pattern: '^(#[0-9A-Fa-f]{6})?$' }),
    'Background of the emoji, such as `#FFE0F1`; null when none is set.',
  ),
  application_name: optional(Type.String({ maxLength: 255 }), 'What the tests are of, for people.'),
  oidc_policy: optional(
    Type.String({ maxLength: 10_000 }),
    'Kept for clients that send it. Must be empty: results are sent with the token of the suite.',
  ),
}

const number = (description: string, minimum: number, maximum: number) =>
  Type.Optional(Type.Integer({ minimum, maximum, description }))

const rules = {
  flaky_on_same_commit: Type.Optional(boolean(`${onSameCommit} Default true.`)),
  flaky_transitions: optional(Type.Integer({ minimum: 2, maximum: 100 }), `${transitions} Default 4.`),
  flaky_window: number(`${window} Default 20.`, 3, 100),
  flaky_clear_days: number(`${clearDays} Default 7.`, 1, 90),
  flaky_clear_executions: number(`${clearExecutions} Default 100.`, 1, 200),
  quarantine_rule: optional(oneOf(['muted', 'skipped']), `${rule} Default null.`),
  quarantine_days: number(`${ruleDays} Default 14.`, 1, 90),
}

export const CreateSuite = Type.Object(
  {
    name: Name,
    ...settings,
    ...rules,
    team_ids: optional(
      Type.Array(Type.String({ format: 'uuid' }), { maxItems: 250 }),
      'UUIDs of teams whose members manage the suite.',
    ),
  },
  { title: 'CreateSuite', examples: [{ name: 'Browser tests', default_branch: 'main' }] },
)

export const UpdateSuite = Type.Object(
  { name: Type.Optional(Name), ...settings, ...rules },
  { title: 'UpdateSuite', examples: [{ default_branch: 'trunk' }] },
)

export type CreateSuiteBody = Static<typeof CreateSuite>
export type UpdateSuiteBody = Static<typeof UpdateSuite>
