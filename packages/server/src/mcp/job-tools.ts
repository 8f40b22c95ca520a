import { Type } from 'typebox'
import { cutText, plainText } from '../resources/builds/log/screen/plain-text.ts'
import type { LogSearchHit } from '../resources/builds/log-search/schema.ts'
import { findSigned } from '../resources/builds/artifacts/queries.ts'
import { notFound } from '../lib/errors.ts'
import { boundedList, boundedPage, hasNext, mostBytes, pageQuery, pick } from './bounded.ts'
import {
  BuildInput,
  findBuild,
  findJob,
  findOrganization,
  inBuild,
  JobInput,
  OrganizationInput,
} from './addresses.ts'
import { isData, tool, type Tool } from './tool.ts'

const jobFields = [
  'id',
  'type',
  'name',
  'step_key',
  'state',
  'soft_failed',
  'exit_status',
  'signal',
  'state_reason',
  'command',
  'retries_count',
  'parallel_group_index',
  'unblockable',
  'fields',
  'web_url',
  'created_at',
  'started_at',
  'finished_at',
]

const oneJob = '/v2/organizations/:org/jobs/:job'

const listJobs = tool({
  name: 'list_jobs',
  title: 'List jobs',
  description: 'Lists the jobs of a build, in the order of its steps. For failures, use get_failure_summary.',
  input: Type.Object({
    ...BuildInput,
    state: Type.Optional(
      Type.Array(Type.String(), { description: 'Only jobs in these states, such as failed.' }),
    ),
    step_key: Type.Optional(Type.String({ description: 'Only jobs of this step.' })),
    after: Type.Optional(Type.String({ description: 'From `truncated` of the answer before.' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
  }),
  routes: [`GET ${inBuild}/jobs`],
  async run(desk, given) {
    const { body } = await desk.call(`GET ${inBuild}/jobs`, {
      params: await findBuild(desk, given),
      query: {
        per_page: String(given.limit ?? 50),
        include_retried_jobs: 'false',
        'state[]': given.state,
        step_key: given.step_key,
        after: given.after,
      },
    })
    const { items, links } = body as { items: unknown[]; links: { next?: string } }
    const after = links.next === undefined ? null : new URL(links.next).searchParams.get('after')
    const entries = items.map((job) => pick(job, jobFields, 200))
    const more = after === null ? 'Call again with a smaller limit.' : `Call again with after=${after}`
    return boundedList('jobs', { entries, hasMore: after !== null, more })
  },
})

const getJob = tool({
  name: 'get_job',
  title: 'Get a job',
  description: 'Shows a job: its state, command, exit status and agent.',
  input: Type.Object(JobInput),
  routes: [`GET ${oneJob}`],
  async run(desk, given) {
    const { body } = await desk.call(`GET ${oneJob}`, { params: await findJob(desk, given) })
    const { agent } = body as { agent?: unknown }
    return {
      ...pick(body, [...jobFields, 'agent_query_rules', 'build_url'], 2000),
      agent: pick(agent, ['id', 'name', 'hostname']),
    }
  },
})

const whyWaiting = tool({
  name: 'why_waiting',
  title: 'Why does this job wait?',
  description:
    'Says why a job has not started, what it waits for, how many jobs and agents there are before it, and when it probably starts.',
  input: Type.Object(JobInput),
  routes: [`GET ${oneJob}/waiting`],
  run: async (desk, given) =>
    (await desk.call(`GET ${oneJob}/waiting`, { params: await findJob(desk, given) })).body,
})

interface RowsBody {
  from: number
  total: number
  is_final: boolean
  rows: Array<[number | null, ...Array<string | [string, ...string[]]>]>
}

const textOf = ([, ...runs]: RowsBody['rows'][number]) =>
  cutText(plainText(runs.map((run) => (typeof run === 'string' ? run : run[0])).join('')), 1000)

const readLog = tool({
  name: 'read_log',
  title: 'Read rows of a log',
  description: `Reads a range of rows of the log of a job, as plain text with row numbers; without \`from\`, the last rows. ${isData}`,
  input: Type.Object({
    ...JobInput,
    from: Type.Optional(
      Type.Integer({ minimum: 1, description: 'The first row. Default: the last rows are read.' }),
    ),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: 'How many rows at most.' }),
    ),
  }),
  routes: [`GET ${oneJob}/log/rows`],
  async run(desk, given) {
    const limit = String(given.limit ?? 100)
    const { body } = await desk.call(`GET ${oneJob}/log/rows`, {
      params: await findJob(desk, given),
      query: given.from === undefined ? { tail: limit } : { from: String(given.from), limit },
    })
    const { from, total, is_final, rows } = body as RowsBody
    const entries = rows.map((row, index) => `${from + index}: ${textOf(row)}`)
    const last = from + rows.length - 1
    const more = `Rows 1 to ${total} can be read with from and limit; the next one after these is ${Math.min(last + 1, total)}.`
    return boundedList(
      'rows',
      { entries, hasMore: last < total, more },
      { from, total_rows: total, is_final },
    )
  },
})

const searchLog = tool({
  name: 'search_log',
  title: 'Search a log',
  description: `Finds the rows of the log of a job that contain a text or match a regular expression (RE2). ${isData}`,
  input: Type.Object({
    ...JobInput,
    query: Type.String({ minLength: 1, maxLength: 1000, description: 'The text to search for.' }),
    regex: Type.Optional(Type.Boolean({ default: false, description: '`query` is a regular expression.' })),
    case_sensitive: Type.Optional(Type.Boolean({ default: false })),
  }),
  routes: [`GET ${oneJob}/log/search`],
  async run(desk, given) {
    const { body } = await desk.call(`GET ${oneJob}/log/search`, {
      params: await findJob(desk, given),
      query: {
        q: given.query,
        regex: String(given.regex ?? false),
        case: String(given.case_sensitive ?? false),
      },
    })
    const { total, is_complete, searched_rows, matches } = body as {
      total: number
      is_complete: boolean
      searched_rows: number
      matches: unknown[]
    }
    const entries = matches.slice(0, 200)
    return boundedList(
      'matches',
      {
        entries,
        hasMore: total > entries.length,
        more: 'Search for a longer text, or read around a row with read_log.',
      },
      { total_matches: total, is_complete, searched_rows },
    )
  },
})

const searchLogs = tool({
  name: 'search_logs',
  title: 'Search the logs of many builds',
  description: `Finds rows in the logs of many builds, newest first: where else does this error appear? Without \`whole_logs\` it looks at what failed jobs said in the last weeks, also in error annotations and in messages of failed tests, which is fast. ${isData}`,
  input: Type.Object({
    ...OrganizationInput,
    query: Type.String({ minLength: 2, maxLength: 200, description: 'The text to search for.' }),
    regex: Type.Optional(
      Type.Boolean({ default: false, description: '`query` is a regular expression (RE2).' }),
    ),
    case_sensitive: Type.Optional(Type.Boolean({ default: false })),
    whole_logs: Type.Optional(
      Type.Boolean({ default: false, description: 'Search the whole logs of all jobs. It takes longer.' }),
    ),
    pipeline: Type.Optional(Type.String({ description: 'Only of the pipeline with this slug.' })),
    branch: Type.Optional(Type.String({ description: 'Only of builds of this branch.' })),
    cursor: Type.Optional(Type.String({ description: '`cursor` of the answer before: where to go on.' })),
  }),
  routes: ['GET /v2/organizations/:org/log-search'],
  async run(desk, given) {
    const { body } = await desk.call('GET /v2/organizations/:org/log-search', {
      params: { org: await findOrganization(desk, given.organization) },
      query: {
        q: given.query,
        regex: String(given.regex ?? false),
        case: String(given.case_sensitive ?? false),
        in: given.whole_logs === true ? 'logs' : 'failures',
        ...(given.pipeline === undefined ? {} : { pipeline: given.pipeline }),
        ...(given.branch === undefined ? {} : { branch: given.branch }),
        ...(given.cursor === undefined ? {} : { cursor: given.cursor }),
      },
    })
    const { hits, progress, cursor } = body as {
      hits: LogSearchHit[]
      progress: unknown
      cursor: string | null
    }
    const entries = hits.map(({ build, job, kind, row, annotation, test, text, web_url }) => ({
      build: `${build.pipeline_slug} #${build.number}`,
      branch: build.branch,
      job: job.id,
      name: job.name,
      kind,
      ...(row === null ? { of: annotation?.context ?? test?.name } : { row }),
      text,
      web_url,
    }))
    const more = 'Search for a longer text, or for one pipeline or branch.'
    return boundedList('hits', { entries, hasMore: false, more }, { progress, cursor })
  },
})

const listArtifacts = tool({
  name: 'list_artifacts',
  title: 'List artifacts',
  description: 'Lists the artifacts of a build, oldest first.',
  input: Type.Object({
    ...BuildInput,
    path: Type.Optional(Type.String({ description: 'Only paths that match; `*` matches any text.' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
    page: Type.Optional(Type.Integer({ minimum: 1, default: 1 })),
  }),
  routes: [`GET ${inBuild}/artifacts`],
  async run(desk, given) {
    const { body, headers } = await desk.call(`GET ${inBuild}/artifacts`, {
      params: await findBuild(desk, given),
      query: { ...pageQuery(given, 50), path: given.path },
    })
    const fields = ['id', 'job_id', 'path', 'mime_type', 'file_size', 'state']
    const entries = (body as unknown[]).map((one) => pick(one, fields))
    return boundedPage('artifacts', entries, headers, given, '')
  },
})

const mostText = 48 * 1024

const readArtifact = tool({
  name: 'read_artifact',
  title: 'Read an artifact',
  description: `Shows the text of an artifact, the first 48 kB, and an address that gives the whole file for 60 seconds. ${isData}`,
  input: Type.Object({
    ...JobInput,
    artifact: Type.String({ description: 'UUID of the artifact, from list_artifacts.' }),
  }),
  routes: [`GET ${oneJob}/artifacts/:artifact`, `GET ${oneJob}/artifacts/:artifact/download`],
  async run(desk, given) {
    const params = { ...(await findJob(desk, given)), artifact: given.artifact }
    const { body } = await desk.call(`GET ${oneJob}/artifacts/:artifact`, { params })
    const download = await desk.call(`GET ${oneJob}/artifacts/:artifact/download`, { params })
    const about = pick(body, ['id', 'job_id', 'path', 'mime_type', 'file_size', 'state'])
    const { url } = download.body as { url: string }
    const stored = await findSigned(desk.ctx.db, given.artifact.toLowerCase())
    const text =
      stored?.blob_key == null
        ? null
        : await readText(desk.ctx.blobs, stored.blob_key, Number(about['file_size']))
    if (text === null) return { ...about, download_url: url, text: null, truncated: null }
    const isCut = Number(about['file_size']) > mostText
    const more = 'The whole file is at download_url for 60 seconds.'
    return { ...about, download_url: url, text, truncated: isCut ? { shown: mostText, more } : null }
  },
})

/** null: the file is not text. */
async function readText(
  blobs: { get(key: string, range?: { start: number; end: number }): Promise<AsyncIterable<unknown> | null> },
  key: string,
  size: number,
): Promise<string | null> {
  if (size === 0) return ''
  const stream = await blobs.get(key, { start: 0, end: Math.min(size, mostText) - 1 })
  if (stream === null) throw notFound('No artifact found')
  const pieces: Buffer[] = []
  for await (const piece of stream) pieces.push(piece as Buffer)
  const bytes = Buffer.concat(pieces)
  if (bytes.includes(0)) return null
  return cutText(plainText(bytes.toString()), mostBytes)
}

const listAgents = tool({
  name: 'list_agents',
  title: 'List agents',
  description: 'Lists the agents of an organization, with the job that each runs.',
  input: Type.Object({
    ...OrganizationInput,
    name: Type.Optional(Type.String({ description: 'Only agents of this name.' })),
    queue_id: Type.Optional(Type.String({ description: 'Only agents of this queue, by its UUID.' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
    page: Type.Optional(Type.Integer({ minimum: 1, default: 1 })),
  }),
  routes: ['GET /v2/organizations/:org/agents'],
  async run(desk, given) {
    const { body, headers } = await desk.call('GET /v2/organizations/:org/agents', {
      params: { org: await findOrganization(desk, given.organization) },
      query: { ...pageQuery(given, 50), name: given.name, cluster_queue_id: given.queue_id },
    })
    const fields = ['id', 'name', 'connection_state', 'hostname', 'version', 'paused', 'meta_data', 'web_url']
    const entries = (body as Array<{ job?: unknown }>).map((agent) => ({
      ...pick(agent, fields),
      job: agent.job == null ? null : pick(agent.job, ['id', 'name', 'web_url']),
    }))
    return boundedPage('agents', entries, headers, given, '')
  },
})

const mostClusters = 20

const listQueues = tool({
  name: 'list_queues',
  title: 'List queues',
  description: 'Lists the queues of the clusters of an organization, and which of them are paused.',
  input: Type.Object(OrganizationInput),
  routes: ['GET /v2/organizations/:org/clusters', 'GET /v2/organizations/:org/clusters/:cluster/queues'],
  async run(desk, given) {
    const org = await findOrganization(desk, given.organization)
    const clusters = await desk.call('GET /v2/organizations/:org/clusters', {
      params: { org },
      query: { per_page: String(mostClusters) },
    })
    const entries: unknown[] = []
    let hasMore = hasNext(clusters.headers)
    for (const { id, name } of clusters.body as Array<{ id: string; name: string }>) {
      const queues = await desk.call('GET /v2/organizations/:org/clusters/:cluster/queues', {
        params: { org, cluster: id },
        query: { per_page: '100' },
      })
      hasMore ||= hasNext(queues.headers)
      const fields = ['id', 'key', 'description', 'dispatch_paused', 'dispatch_paused_note', 'web_url']
      for (const queue of queues.body as unknown[]) entries.push({ cluster: name, ...pick(queue, fields) })
    }
    return boundedList('queues', {
      entries,
      hasMore,
      more: `Only the first ${mostClusters} clusters are read.`,
    })
  },
})

const retryJob = tool({
  name: 'retry_job',
  title: 'Retry a job',
  description: 'Retries a job that failed, timed out, expired or was canceled. Answers with the new job.',
  input: Type.Object(JobInput),
  routes: [`PUT ${oneJob}/retry`],
  writes: true,
  async run(desk, given) {
    const { body } = await desk.call(`PUT ${oneJob}/retry`, { params: await findJob(desk, given) })
    return pick(body, jobFields)
  },
})

const unblockJob = tool({
  name: 'unblock_job',
  title: 'Unblock a job',
  description: 'Unblocks a block or input step. `fields` of get_job says which answers it needs.',
  input: Type.Object({
    ...JobInput,
    fields: Type.Optional(
      Type.Record(Type.String(), Type.String(), { description: 'Answers by the keys of the fields.' }),
    ),
  }),
  routes: [`PUT ${oneJob}/unblock`],
  writes: true,
  async run(desk, given) {
    const { body } = await desk.call(`PUT ${oneJob}/unblock`, {
      params: await findJob(desk, given),
      body: given.fields === undefined ? {} : { fields: given.fields },
    })
    return pick(body, jobFields)
  },
})

export const jobTools: readonly Tool[] = [
  listJobs,
  getJob,
  whyWaiting,
  readLog,
  searchLog,
  searchLogs,
  listArtifacts,
  readArtifact,
  listAgents,
  listQueues,
  retryJob,
  unblockJob,
]
