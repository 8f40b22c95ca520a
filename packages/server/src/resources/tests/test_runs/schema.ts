import { Type } from 'typebox'
import { count, orNull, text, Timestamp, Uuid, uuid } from '../../schema.ts'
import { runResult, runState } from '../suites/schema.ts'

const TextOrNull = orNull(Type.String())

export const FailureExpanded = Type.Array(
  Type.Object({
    expanded: Type.Array(Type.String(), { description: 'Lines of the failure.' }),
    backtrace: Type.Array(Type.String(), { description: 'Lines of the stack trace.' }),
  }),
  { description: 'All that the failure says; only where it was asked for.' },
)

const FailureReason = orNull(text('First line of why the test failed; null when it is not known.'))

const Location = orNull(text('Where the test is defined; null when the sender did not say.'))

const TestFailure = Type.Object(
  {
    scope: text('The groups that the test is in.'),
    name: text('Name of the test.'),
    location: Location,
    file_name: orNull(text('File that the test is in; null when the sender did not say.')),
    failure_reason: FailureReason,
    failure_expanded: Type.Optional(FailureExpanded),
    duration: orNull(Type.Number({ description: 'Seconds.' })),
  },
  { title: 'TestFailure' },
)

const CommitSha = orNull(text('Commit that was tested; null when the sender did not say.'))

export const TestRun = Type.Object(
  {
    id: Uuid,
    url: text('Address of the run in the API.'),
    web_url: text('The page of the build of the run, or of the suite where the run has none.'),
    suite: Type.Object({ id: Uuid, slug: Type.String() }, { description: 'The test suite.' }),
    build_id: orNull(uuid('UUID of the build that the tests ran in; null when there is none.')),
    state: runState,
    result: runResult,
    branch: TextOrNull,
    commit_sha: CommitSha,
    results_count: count('How many results there are.'),
    passed_count: count('How many tests passed.'),
    failed_count: count('How many tests failed.'),
    skipped_count: count('How many tests were skipped.'),
    unknown_count: count('How many tests have no known result.'),
    duration: Type.Number({ description: 'Seconds, all tests together.' }),
    failures: Type.Array(TestFailure, {
      description: 'The first of them; `failed_count` says how many there are.',
    }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'TestRun' },
)

export const executionTags = Type.Record(Type.String(), Type.String(), {
  description:
    'What the sender said of the execution, and what was set afterwards by `PUT …/execution-tags`: names that begin with `mut.`.',
})

export const FailedExecution = Type.Object(
  {
    execution_id: uuid('UUID of this one run of the test.'),
    run_id: uuid('UUID of the test run.'),
    run_name: text('The key under which the results were sent.'),
    run_url: text('Address of the test run in the API.'),
    test_id: uuid('UUID of the test.'),
    test_name: text('Scope and name of the test.'),
    test_url: orNull(
      text(
        'Address of the test in the API; null when the suite does not have the test, as with those that only builds of forks have run.',
      ),
    ),
    test_execution_url: orNull(
      text('The page of the test, at this run of it; null when the suite does not have the test.'),
    ),
    tags: executionTags,
    branch: TextOrNull,
    commit_sha: CommitSha,
    created_at: Timestamp,
    duration: orNull(Type.Number({ description: 'Seconds.' })),
    location: Location,
    failure_reason: FailureReason,
    failure_expanded: Type.Optional(FailureExpanded),
  },
  { title: 'FailedExecution' },
)
