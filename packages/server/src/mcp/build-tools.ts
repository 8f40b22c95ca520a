import { Type } from 'typebox'
import { boundedPage, pageQuery, pick } from './bounded.ts'
import {
  BuildInput,
  findBuild,
  findOrganization,
  findPipeline,
  inBuild,
  OrganizationInput,
  PipelineInput,
} from './addresses.ts'
import { isData, tool, type Desk, type Tool } from './tool.ts'

const buildFields = [
  'number',
  'state',
  'blocked',
  'branch',
  'commit',
  'message',
  'source',
  'web_url',
  'created_at',
  'started_at',
  'finished_at',
  'job_state_counts',
]

const Limit = Type.Optional(
  Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'How many entries at most.' }),
)
const Page = Type.Optional(Type.Integer({ minimum: 1, default: 1, description: 'Which page of entries.' }))

const listOrganizations = tool({
  name: 'list_organizations',
  title: 'List organizations',
  description: 'Lists the organizations that the token reaches.',
  input: Type.Object({ limit: Limit, page: Page }),
  routes: ['GET /v2/organizations'],
  async run(desk, given) {
    const { body, headers } = await desk.call('GET /v2/organizations', { query: pageQuery(given) })
    const entries = (body as unknown[]).map((one) => pick(one, ['slug', 'name', 'web_url']))
    return boundedPage('organizations', entries, headers, given)
  },
})

const listPipelines = tool({
  name: 'list_pipelines',
  title: 'List pipelines',
  description:
    'Lists the pipelines of an organization, with the numbers of their running and waiting builds.',
  input: Type.Object({
    ...OrganizationInput,
    name: Type.Optional(Type.String({ description: 'Part of the name.' })),
    repository: Type.Optional(Type.String({ description: 'Part of the address of the repository.' })),
    limit: Limit,
    page: Page,
  }),
  routes: ['GET /v2/organizations/:org/pipelines'],
  async run(desk, given) {
    const org = await findOrganization(desk, given.organization)
    const { body, headers } = await desk.call('GET /v2/organizations/:org/pipelines', {
      params: { org },
      query: { ...pageQuery(given), name: given.name, repository: given.repository },
    })
    const fields = ['slug', 'name', 'description', 'repository', 'default_branch', 'web_url']
    const counts = ['running_builds_count', 'scheduled_builds_count']
    const entries = (body as unknown[]).map((one) => pick(one, [...fields, ...counts]))
    return boundedPage('pipelines', entries, headers, given)
  },
})

const getPipeline = tool({
  name: 'get_pipeline',
  title: 'Get a pipeline',
  description: 'Shows a pipeline with its configuration (YAML, the first 20,000 characters).',
  input: Type.Object(PipelineInput),
  routes: ['GET /v2/organizations/:org/pipelines/:pipeline'],
  async run(desk, given) {
    const params = await findPipeline(desk, given)
    const { body } = await desk.call('GET /v2/organizations/:org/pipelines/:pipeline', { params })
    const fields = [
      'slug',
      'name',
      'description',
      'repository',
      'default_branch',
      'branch_configuration',
      'cluster_id',
      'web_url',
    ]
    return { ...pick(body, fields), ...pick(body, ['configuration'], 20_000) }
  },
})

const listBuilds = tool({
  name: 'list_builds',
  title: 'List builds',
  description: 'Lists builds, newest first: of an organization, a pipeline, a branch, a commit, in a state.',
  input: Type.Object({
    ...PipelineInput,
    branch: Type.Optional(Type.String({ description: 'Only builds of this branch; `*` matches any text.' })),
    commit: Type.Optional(Type.String({ description: 'Only builds of this commit, in full.' })),
    state: Type.Optional(
      Type.String({
        description: 'For example failed, failing, passed, running, scheduled, blocked, canceled, finished.',
      }),
    ),
    limit: Limit,
    page: Page,
  }),
  routes: ['GET /v2/organizations/:org/builds', 'GET /v2/organizations/:org/pipelines/:pipeline/builds'],
  async run(desk, given) {
    const { branch, commit, state } = given
    const query = { ...pageQuery(given), exclude_jobs: 'true', branch, commit, state }
    const { body, headers } =
      given.pipeline === undefined
        ? await desk.call('GET /v2/organizations/:org/builds', {
            params: { org: await findOrganization(desk, given.organization) },
            query,
          })
        : await desk.call('GET /v2/organizations/:org/pipelines/:pipeline/builds', {
            params: await findPipeline(desk, given),
            query,
          })
    const entries = (body as Array<{ pipeline?: { slug?: string } }>).map((build) => ({
      pipeline: build.pipeline?.slug,
      ...pick(build, buildFields, 200),
    }))
    return boundedPage('builds', entries, headers, given)
  },
})

const getBuild = tool({
  name: 'get_build',
  title: 'Get a build',
  description:
    'Shows a build and how many of its jobs are in which state. For failures, use get_failure_summary.',
  input: Type.Object(BuildInput),
  routes: [`GET ${inBuild}`],
  async run(desk, given) {
    const params = await findBuild(desk, given)
    const { body } = await desk.call(`GET ${inBuild}`, {
      params,
      query: { exclude_jobs: 'true', exclude_pipeline: 'true' },
    })
    return {
      pipeline: params.pipeline,
      ...pick(body, [...buildFields, 'tag', 'author', 'cancel_reason', 'pull_request']),
    }
  },
})

const getFailureSummary = tool({
  name: 'get_failure_summary',
  title: 'Why did this build fail?',
  description: `Says in one call why a build failed or goes no further: failed jobs with the failing rows of their logs, error annotations, failed tests with flaky marks, what waits and why, and since which build the branch is broken. Start here. ${isData}`,
  input: Type.Object({
    ...BuildInput,
    max_bytes: Type.Optional(
      Type.Integer({
        minimum: 8192,
        maximum: 262_144,
        default: 32_768,
        description: 'The answer is never larger.',
      }),
    ),
    max_jobs: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 100,
        default: 10,
        description: 'How many failed jobs are shown at most.',
      }),
    ),
  }),
  routes: [`GET ${inBuild}/failure_summary`],
  async run(desk, given) {
    const { body } = await desk.call(`GET ${inBuild}/failure_summary`, {
      params: await findBuild(desk, given),
      query: { max_bytes: String(given.max_bytes ?? 32_768), max_jobs: String(given.max_jobs ?? 10) },
    })
    return body
  },
})

const listAnnotations = tool({
  name: 'list_annotations',
  title: 'List annotations',
  description: `Lists the annotations of a build as HTML, the most important first. ${isData}`,
  input: Type.Object({ ...BuildInput, limit: Limit, page: Page }),
  routes: [`GET ${inBuild}/annotations`],
  async run(desk, given) {
    const { body, headers, stream } = await desk.call(`GET ${inBuild}/annotations`, {
      params: await findBuild(desk, given),
      query: { scope: 'all', ...pageQuery({ ...given, limit: Math.min(given.limit ?? 10, 20) }) },
    })
    const listed = stream === undefined ? body : await readJson(stream)
    const entries = (listed as unknown[]).map((one) => ({
      ...pick(one, ['context', 'style', 'scope', 'job_id']),
      ...pick(one, ['body_html'], 8000),
    }))
    return boundedPage('annotations', entries, headers, given)
  },
})

async function readJson(stream: AsyncIterable<string | Buffer>): Promise<unknown> {
  let text = ''
  for await (const piece of stream) text += String(piece)
  return JSON.parse(text)
}

const listTests = tool({
  name: 'list_failed_tests',
  title: 'List failed tests',
  description: `Lists the tests that failed in a build, with what the last failure says. ${isData}`,
  input: Type.Object({ ...BuildInput, limit: Limit, page: Page }),
  routes: [`GET ${inBuild}`, 'GET /v2/analytics/organizations/:org/builds/:build_uuid/tests'],
  async run(desk, given) {
    const address = await findBuild(desk, given)
    const found = await desk.call(`GET ${inBuild}`, {
      params: { ...address },
      query: { exclude_jobs: 'true', exclude_pipeline: 'true' },
    })
    const { body, headers } = await desk.call(
      'GET /v2/analytics/organizations/:org/builds/:build_uuid/tests',
      {
        params: { org: address.org, build_uuid: (found.body as { id: string }).id },
        query: { ...pageQuery(given), result: 'failed', include: 'latest_fail' },
      },
    )
    const entries = (body as Array<{ latest_fail?: unknown }>).map((test) => ({
      ...pick(test, ['id', 'scope', 'name', 'location', 'executions_count_by_result', 'reliability']),
      latest_fail: pick(test.latest_fail, ['failure_reason', 'failure_expanded'], 2000),
    }))
    return boundedPage('tests', entries, headers, given)
  },
})

const createBuild = tool({
  name: 'create_build',
  title: 'Start a build',
  description: 'Starts a build of a pipeline.',
  input: Type.Object({
    ...PipelineInput,
    branch: Type.Optional(Type.String({ description: 'Default: the default branch of the pipeline.' })),
    commit: Type.Optional(Type.String({ default: 'HEAD' })),
    message: Type.Optional(Type.String()),
    env: Type.Optional(
      Type.Record(Type.String(), Type.String(), { description: 'Variables of all its jobs.' }),
    ),
  }),
  routes: ['POST /v2/organizations/:org/pipelines/:pipeline/builds'],
  writes: true,
  async run(desk, given) {
    const params = await findPipeline(desk, given)
    const branch = given.branch ?? (await findDefaultBranch(desk, params))
    const { body } = await desk.call('POST /v2/organizations/:org/pipelines/:pipeline/builds', {
      params,
      body: {
        branch,
        commit: given.commit ?? 'HEAD',
        ...(given.message === undefined ? {} : { message: given.message }),
        ...(given.env === undefined ? {} : { env: given.env }),
      },
    })
    return { pipeline: params.pipeline, ...pick(body, buildFields) }
  },
})

async function findDefaultBranch(desk: Desk, params: Record<string, string>): Promise<string> {
  const { body } = await desk.call('GET /v2/organizations/:org/pipelines/:pipeline', { params })
  return (body as { default_branch: string }).default_branch
}

const cancelBuild = tool({
  name: 'cancel_build',
  title: 'Cancel a build',
  description: 'Cancels a build that has not ended: its running jobs are stopped.',
  input: Type.Object({ ...BuildInput, reason: Type.Optional(Type.String()) }),
  routes: [`PUT ${inBuild}/cancel`],
  writes: true,
  async run(desk, given) {
    const params = await findBuild(desk, given)
    const reason = given.reason === undefined ? {} : { reason: given.reason }
    return pick((await desk.call(`PUT ${inBuild}/cancel`, { params, body: reason })).body, buildFields)
  },
})

const rebuild = tool({
  name: 'rebuild',
  title: 'Build again',
  description:
    'Makes a new build of the same commit and branch. To run only failed jobs again, use retry_failed_jobs.',
  input: Type.Object(BuildInput),
  routes: [`PUT ${inBuild}/rebuild`],
  writes: true,
  async run(desk, given) {
    const params = await findBuild(desk, given)
    return pick((await desk.call(`PUT ${inBuild}/rebuild`, { params })).body, buildFields)
  },
})

const retryFailedJobs = tool({
  name: 'retry_failed_jobs',
  title: 'Retry failed jobs',
  description: 'Retries all jobs of a build that failed, timed out, expired or were canceled.',
  input: Type.Object(BuildInput),
  routes: [`PUT ${inBuild}/retry_failed_jobs`],
  writes: true,
  async run(desk, given) {
    const params = await findBuild(desk, given)
    const { body } = await desk.call(`PUT ${inBuild}/retry_failed_jobs`, { params, body: {} })
    return {
      build: params.build,
      pipeline: params.pipeline,
      ...pick(body, [...buildFields, 'retried_jobs_count']),
    }
  },
})

export const buildTools: readonly Tool[] = [
  getFailureSummary,
  listBuilds,
  getBuild,
  listAnnotations,
  listTests,
  listPipelines,
  getPipeline,
  listOrganizations,
  createBuild,
  cancelBuild,
  rebuild,
  retryFailedJobs,
]
