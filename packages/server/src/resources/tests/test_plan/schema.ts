import { Type, type Static } from 'typebox'
import { count, described, oneOf, orNull, text } from '../../schema.ts'

const mostFiles = 100_000

/** Longer names are stored shortened, so no times would be found. */
const Path = Type.String({ minLength: 1, maxLength: 1000, description: 'A file, as results name it.' })

export const FileNames = Type.Object(
  { paths: Type.Array(Path, { maxItems: mostFiles, description: 'The files to look up.' }) },
  { title: 'TestFileNames', examples: [{ paths: ['spec/basket_spec.rb', 'spec/order_spec.rb'] }] },
)

export const FileTimes = Type.Record(
  Type.String(),
  Type.Integer({ minimum: 0, description: 'Milliseconds.' }),
  {
    title: 'TestFileTimes',
    description: 'What each file is expected to take; files that have not run lately are absent.',
  },
)

export const FilesToFilter = Type.Object(
  {
    files: Type.Array(Type.Object({ path: Path }), { maxItems: mostFiles, description: 'The files to run.' }),
    env: Type.Optional(
      Type.Object(
        {
          BUILDKITE_PARALLEL_JOB_COUNT: Type.Optional(Type.Integer({ description: 'Number of jobs.' })),
          BUILDKITE_TEST_ENGINE_SPLIT_BY_EXAMPLE: Type.Optional(
            Type.Boolean({ description: 'Name slow files too.' }),
          ),
        },
        { description: 'Settings of the client.' },
      ),
    ),
    max_parallelism: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1000,
        description: 'The most jobs, where the plan says how many.',
      }),
    ),
    target_time: Type.Optional(
      Type.Number({ minimum: 0, description: 'Seconds that a job should take at most.' }),
    ),
  },
  { title: 'FilesToFilter', examples: [{ files: [{ path: 'spec/basket_spec.rb' }] }] },
)

export const FilteredFiles = Type.Object(
  {
    tests: Type.Array(Type.Object({ path: text('The file.') }), {
      description: 'Files that should be divided into their tests.',
    }),
  },
  { title: 'FilteredFiles' },
)

/** Part of a key of an index, which has a limit. */
const longestIdentifier = 500

const Example = Type.Object({
  path: Type.String({ description: 'What the test runner takes to run it.' }),
  scope: Type.Optional(Type.String({ description: 'The groups that the test is in.' })),
  name: Type.Optional(Type.String({ description: 'Name of the test.' })),
  identifier: Type.Optional(Type.String({ description: 'What the test runner calls it.' })),
  format: Type.Optional(Type.String({ description: 'Kept for clients that send it.' })),
})

export const CreateTestPlan = Type.Object(
  {
    identifier: Type.String({
      minLength: 1,
      maxLength: longestIdentifier,
      description: 'All jobs that ask with one identifier get one plan. Usually the ids of build and step.',
    }),
    parallelism: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 1000, description: 'Number of jobs. Default 1.' }),
    ),
    max_parallelism: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1000,
        description: 'Instead of `parallelism`: the most jobs. With `target_time`, as few as keep to it.',
      }),
    ),
    target_time: Type.Optional(
      Type.Number({ minimum: 0, description: 'Seconds that a job should take at most.' }),
    ),
    location_prefix: Type.Optional(
      Type.String({ maxLength: 1000, description: 'What results put before the selectors.' }),
    ),
    tests: Type.Object(
      {
        files: Type.Optional(
          Type.Array(Type.Object({ path: Path }), {
            maxItems: mostFiles,
            description: 'Files to run as a whole.',
          }),
        ),
        selectors: Type.Optional(
          Type.Array(Type.Object({ value: Path }), {
            maxItems: mostFiles,
            description: 'The same, as newer clients send them.',
          }),
        ),
        examples: Type.Optional(
          Type.Array(Example, { maxItems: mostFiles, description: 'Tests to run one by one.' }),
        ),
      },
      { description: 'What is to be run.' },
    ),
    selection: Type.Optional(
      orNull(Type.Object({}), 'To run only some tests, which is not supported: answered with 422.'),
    ),
  },
  {
    title: 'CreateTestPlan',
    examples: [
      {
        identifier: 'build-1/step-1',
        parallelism: 2,
        tests: { files: [{ path: 'spec/basket_spec.rb' }, { path: 'spec/order_spec.rb' }] },
      },
    ],
  },
)

export type PlanRequest = Static<typeof CreateTestPlan>

const formats = ['file', 'example', 'selector'] as const

export type Format = (typeof formats)[number]

const optionalText = (description: string) => Type.Optional(text(description))

const PlannedTest = Type.Object(
  {
    format: oneOf(formats, 'How it was named in the request.'),
    path: text('What the test runner takes to run it.'),
    value: optionalText('The selector.'),
    scope: optionalText('The groups that the test is in.'),
    name: optionalText('Name of the test.'),
    identifier: optionalText('What the test runner calls it.'),
    estimated_duration: count('Milliseconds.'),
    timing_sample_size: count('How many runs the time is from; 0: it is a guess.'),
  },
  { title: 'PlannedTest' },
)

const QuarantinedTest = Type.Object(
  {
    path: text('The file, or what the test runner takes; empty when it is not known.'),
    scope: text('The groups that the test is in.'),
    name: text('Name of the test.'),
  },
  { title: 'QuarantinedTest' },
)

const Timing = Type.Object(
  {
    median_duration: orNull(Type.Number(), 'Milliseconds, of those that have run; null: none has.'),
    default_duration: Type.Number({ description: 'Milliseconds, where none has run.' }),
  },
  { title: 'TestPlanTiming' },
)

export const TestPlan = Type.Object(
  {
    muted_tests: Type.Array(QuarantinedTest, {
      description: 'The muted tests of the suite at this moment: their failures fail nothing.',
    }),
    identifier: text('The identifier of the request.'),
    parallelism: count('Number of jobs.'),
    experiment: text('Empty. For clients that read it.'),
    tasks: Type.Record(
      Type.String(),
      Type.Object(
        {
          node_number: count('The job, from 0.'),
          tests: Type.Array(PlannedTest, { description: 'Its tests.' }),
        },
        { title: 'TestPlanTask' },
      ),
      { description: 'By the number of the job. Every test is in one of them.' },
    ),
    skipped_tests: Type.Array(QuarantinedTest, {
      description: 'Tests of the request that no job runs, because they are skipped.',
    }),
    timing_metadata: Type.Object(
      {
        file: Type.Optional(described(Timing, 'Of files.')),
        example: Type.Optional(described(Timing, 'Of single tests.')),
        selector: Type.Optional(described(Timing, 'Of selectors.')),
      },
      { description: 'What the times are from.' },
    ),
  },
  { title: 'TestPlan' },
)

export type Plan = Omit<Static<typeof TestPlan>, 'muted_tests'>
export type Planned = Static<typeof PlannedTest>

export const TestPlanMetadata = Type.Object(
  { version: Type.Optional(text('Version of the client.')) },
  { title: 'TestPlanMetadata', examples: [{ version: '2.11.0' }] },
)
