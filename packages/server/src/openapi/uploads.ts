// The endpoint of test collectors in the OpenAPI document. It belongs to the agent API, which has no other endpoint in the
// document, so it is written by hand.
import type { Json } from './schemas.ts'

const text = (description: string) => ({ type: 'string', description })

const tags = (description: string) => ({
  type: 'object',
  additionalProperties: { type: 'string' },
  description,
})

const result = {
  type: 'object',
  required: ['name', 'history'],
  description: 'The result of one test.',
  properties: {
    id: { type: 'string', format: 'uuid', description: 'UUID of the result; the same one is kept once.' },
    scope: text('The groups that the test is in.'),
    name: text('Name of the test.'),
    location: text('Where the test is defined.'),
    file_name: text('File that the test is in.'),
    result: {
      type: 'string',
      enum: ['passed', 'failed', 'skipped', 'unknown'],
      description: 'How the test ended.',
    },
    failure_reason: text('Why the test failed, in a line.'),
    failure_expanded: {
      type: 'array',
      description: 'All that the failure says.',
      items: {
        type: 'object',
        properties: {
          expanded: { type: 'array', items: { type: 'string' }, description: 'Lines of the failure.' },
          backtrace: { type: 'array', items: { type: 'string' }, description: 'Lines of the stack trace.' },
        },
      },
    },
    tags: tags(
      'What else is known of the execution. At most 20 are kept. Names have at most 50 characters and do not begin with `mut.`; values are cut at 255.',
    ),
    history: {
      type: 'object',
      required: ['start_at'],
      description: 'How long the test took.',
      properties: {
        start_at: { type: 'number', description: 'When the test began: seconds, from any moment.' },
        duration: { type: 'number', description: 'Seconds that the test took.' },
      },
    },
  },
}

const runEnv = {
  type: 'object',
  required: ['key'],
  description: 'Where the tests ran.',
  properties: {
    key: text('What uploads of one run have in common. The UUID of a build makes the run one of that build.'),
    branch: text('Branch that was tested.'),
    commit_sha: text('Commit that was tested.'),
    job_id: text('UUID of the job that the tests ran in, which makes the run one of its build.'),
  },
}

const uploadExample = {
  format: 'json',
  run_env: { key: 'nightly-42', branch: 'main', commit_sha: '0123456789abcdef0123456789abcdef01234567' },
  data: [
    {
      scope: 'Basket',
      name: 'adds an item',
      result: 'passed',
      tags: { 'language.version': '3.4.1' },
      history: { start_at: 0, duration: 0.25 },
    },
  ],
}

const answer = {
  type: 'object',
  required: ['id', 'run_id', 'queued', 'skipped', 'errors', 'run_url'],
  properties: {
    id: text('Id of the request, under which the server’s log knows of it.'),
    run_id: { type: 'string', format: 'uuid', description: 'UUID of the test run.' },
    queued: { type: 'integer', description: 'How many results were taken.' },
    skipped: { type: 'integer', description: 'How many entries were no results.' },
    errors: { type: 'array', items: { type: 'string' }, description: 'Always empty.' },
    run_url: text('Address of the test run in the API.'),
  },
}

/** `errorOf` makes a reference to the error response with that status. */
export const uploadPath = (errorOf: (status: number, description: string) => Json): Json => ({
  post: {
    operationId: 'post_v1_uploads',
    tags: ['test_runs'],
    summary: 'Send the results of tests',
    description:
      'Takes the token of a suite: `Authorization: Token token="…"`. The body may be compressed with gzip. ' +
      'With `format: junit`, `data` is the text of a JUnit file.',
    security: [{ suite_token: [] }],
    parameters: [],
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: {
            type: 'object',
            required: ['run_env', 'data'],
            properties: {
              format: {
                type: 'string',
                enum: ['json', 'junit'],
                description: 'What `data` is. Default: json.',
              },
              run_env: runEnv,
              tags: tags('Of all results; those that a result has take the place of these.'),
              data: {
                description: 'At most 5,000 results, or the text of a JUnit file.',
                anyOf: [{ type: 'array', maxItems: 5000, items: result }, { type: 'string' }],
              },
            },
          },
          example: uploadExample,
        },
      },
    },
    responses: {
      202: {
        description: 'The results are kept.',
        headers: { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } },
        content: {
          'application/json': {
            schema: answer,
            example: {
              id: '00000000-0000-4000-8000-000000000001',
              run_id: '00000000-0000-4000-8000-000000000002',
              queued: 1,
              skipped: 0,
              errors: [],
              run_url:
                'https://millrace.example.com/v2/organizations/acme/suites/unit/test_runs/00000000-0000-4000-8000-000000000002',
            },
          },
        },
      },
      400: errorOf(400, 'The body cannot be read.'),
      401: errorOf(401, 'The token is missing or unknown.'),
      413: errorOf(413, 'The body is too large.'),
      415: errorOf(415, 'The Content-Type cannot be read.'),
      422: errorOf(422, 'The body is not valid, or has too many results.'),
    },
  },
})
