import { Readable } from 'node:stream'
import type { IncomingHttpHeaders } from 'node:http'
import { Type } from 'typebox'
import type { Caller, Organization } from '../../../auth/caller.ts'
import type { Context } from '../../../context.ts'
import { noContent, type Answer } from '../../../http/answer.ts'
import { workOf } from '../../../http/limits/gone.ts'
import { route } from '../../../http/route.ts'
import { notFound } from '../../../lib/errors.ts'
import { takePlace, withPlace, type Place } from '../../../lib/threads.ts'
import * as archivedBuilds from '../archives/queries.ts'
import { findVisibleJob, getBuildableJob, getVisibleJob, type JobParams } from '../../addresses/jobs.ts'
import { deleteLog } from './delete.ts'
import { followRows } from './serve/follow-rows.ts'
import { follow } from './serve/follow.ts'
import { headerTimes } from './header-times.ts'
import { replayedRows } from './rows/replayed-rows.ts'
import { rowsOf } from './rows/find-rows.ts'
import type { RowReader } from './rows/row-source.ts'
import { asHtml, htmlPolicy } from './serve/html.ts'
import { asJson, asPartOfText, asText, logUrl, sizeOfText } from './serve/present.ts'
import {
  bytesOf,
  formOf,
  readOffset,
  readPosition,
  readRange,
  textFormOf,
  type Form,
  type Range,
} from './rules.ts'
import { JobLog } from './schema.ts'
import { archivedLog, findLog, type Log } from './source.ts'

interface Asked {
  ctx: Context
  method: string
  headers: IncomingHttpHeaders
  org: Organization
  caller: Caller
  params: JobParams
  query: { timestamps?: boolean; ansi?: boolean; raw?: boolean }
  gone: () => AbortSignal
}

const formErrors = { 400: 'The range is not one range of bytes, or not of the text.' }
const rangeErrors = {
  ...formErrors,
  416: 'The range begins behind the end of the text, or the text is empty.',
}

const textQuery = {
  ansi: Type.Optional(
    Type.Boolean({ default: false, description: 'Keep colours and cursor movements in the text.' }),
  ),
  raw: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'The text byte by byte as the agent sent it, with time codes.',
    }),
  ),
}

const get = {
  method: 'GET',
  summary: 'Get the log of a job: as JSON, as text/plain, or as text/html, as the request accepts',
  scope: 'read_build_logs',
  query: {
    timestamps: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Keep the time codes that agents put before each line, in `content` of the JSON.',
      }),
    ),
    ...textQuery,
  },
  answers: { 200: JobLog },
  errors: rangeErrors,
  handler: (asked: Asked) => answerLog(asked, formOf(asked.headers.accept)),
} as const

const getText = {
  method: 'GET',
  summary: 'Get the log of a job as plain text; a part of it with Range',
  scope: 'read_build_logs',
  query: textQuery,
  download: true,
  answers: { 200: Type.String({ contentMediaType: 'text/plain' }) },
  errors: rangeErrors,
  handler: (asked: Asked) => answerLog(asked, 'text'),
} as const

const getHtml = {
  method: 'GET',
  summary: 'Get the log of a job as a page, as a terminal would show it',
  scope: 'read_build_logs',
  answers: { 200: Type.String({ contentMediaType: 'text/html' }) },
  errors: formErrors,
  handler: (asked: Asked) => answerLog(asked, 'html'),
} as const

const followIt = {
  method: 'GET',
  summary: 'Follow the log of a job as server-sent events; Last-Event-ID, `offset` or `row` says from where',
  scope: 'read_build_logs',
  query: {
    as: Type.Optional(
      Type.Union([Type.Literal('text'), Type.Literal('rows')], {
        default: 'text',
        description: 'Send the text as it grows, or rows as a terminal shows them.',
      }),
    ),
    offset: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 2 ** 50, default: 0, description: 'In bytes.' }),
    ),
    row: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 2 ** 50,
        default: 1,
        description: 'With `as=rows`: the first row that is not known yet.',
      }),
    ),
  },
  answers: { 200: Type.String({ contentMediaType: 'text/event-stream' }) },
  mayFollow: async ({ ctx, org, caller, params }: Pick<Asked, 'ctx' | 'org' | 'caller' | 'params'>) =>
    (await findVisibleJob(ctx.db, org, caller, params)) !== undefined,
  errors: {
    400: 'Last-Event-ID, the offset or the row is not a place in a log.',
    503: 'The server has too many streams open, or is stopping.',
  },
  handler: answerStream,
} as const

const deleteIt = {
  method: 'DELETE',
  summary: 'Delete the log of a job',
  scope: 'write_build_logs',
  answers: { 204: null },
  handler: answerDelete,
} as const

async function answerLog(asked: Asked, form: Form): Promise<Answer> {
  const { job, log, getRows } = await getAnyLog(asked)
  const common = { Vary: 'Accept', 'Accept-Ranges': 'bytes', 'Cache-Control': 'private, no-cache' }
  if (asked.method === 'HEAD') return answerSize(log, asked, common)
  const wanted = readRange(asked.headers.range, form)
  switch (form) {
    case 'json': {
      const { outline } = await withPlace(workOf('page', asked), async (place) =>
        (await getRows(place)).outline(),
      )
      const facts = {
        url: logUrl(asked.ctx.config.url, asked.org.slug, job),
        headerTimes: headerTimes(outline.groups, log.headerTimes),
      }
      return { status: 200, stream: asJson(log, facts, asked.query.timestamps === true), headers: common }
    }
    case 'html': {
      const headers = { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': htmlPolicy }
      return {
        status: 200,
        stream: asHtml(await getRows(takePlace(workOf('page', asked)))),
        headers: { ...common, ...headers },
      }
    }
    case 'text':
      return wanted === null ? answerText(log, asked, common) : answerRange(log, asked, wanted, common)
  }
}

const textType = 'text/plain; charset=utf-8'

function answerText(log: Log, asked: Asked, common: Record<string, string>): Answer {
  const form = textFormOf(asked.query)
  const length = form === 'raw' ? { 'Content-Length': String(log.size) } : {}
  return {
    status: 200,
    stream: asText(log, form),
    headers: { ...common, ...length, 'Content-Type': textType },
  }
}

async function answerRange(
  log: Log,
  asked: Asked,
  wanted: Range,
  common: Record<string, string>,
): Promise<Answer> {
  const form = textFormOf(asked.query)
  const size = await sizeOfText(log, form)
  const { start, end } = bytesOf(wanted, size)
  const headers = {
    ...common,
    'Content-Range': `bytes ${start}-${end - 1}/${size}`,
    'Content-Type': textType,
    'Content-Length': String(end - start),
  }
  return { status: 206, stream: asPartOfText(log, form, start, end), headers }
}

/** HEAD returns the size of the text, also where GET returns JSON. */
async function answerSize(log: Log, asked: Asked, headers: Record<string, string>): Promise<Answer> {
  if (!log.isStarted) noLog()
  const size = await sizeOfText(log, textFormOf(asked.query))
  const sized = { ...headers, 'Content-Type': textType, 'Content-Length': String(size) }
  return { status: 200, stream: Readable.from([]), headers: sized }
}

async function answerStream(
  asked: Asked & { query: { as?: 'text' | 'rows'; offset?: number; row?: number } },
): Promise<Answer> {
  const { ctx, org, caller, params, query } = asked
  const job = await getVisibleJob(ctx.db, org, caller, params)
  await getLog(ctx, org.id, job.id)
  const lastEventId = asked.headers['last-event-id']
  const followed = { ctx, orgId: org.id, jobId: job.id }
  const until = asked.gone()
  const stream =
    query.as === 'rows'
      ? followRows(followed, readPosition(lastEventId, query.row), { ...workOf('page', asked), until })
      : follow(followed, readOffset(lastEventId, query.offset), until)
  const headers = {
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-store',
    'X-Accel-Buffering': 'no',
  }
  return { status: 200, stream, headers }
}

async function answerDelete({ ctx, org, caller, params }: Asked): Promise<Answer> {
  const job = await getBuildableJob(ctx.db, org, caller, params)
  if (job.kind !== 'script') noLog()
  await deleteLog(ctx, org.id, caller, job)
  return noContent()
}

interface AnyLog {
  job: { id: string; pipeline_slug: string; build_number: number }
  log: Log
  getRows(place: Place): Promise<RowReader>
}

/** Also of a job whose build is archived. */
async function getAnyLog({ ctx, org, caller, params }: Asked): Promise<AnyLog> {
  const job = await findVisibleJob(ctx.db, org, caller, params)
  if (job !== undefined) {
    const log = await getLog(ctx, org.id, job.id)
    return { job, log, getRows: async (place) => (await rowsOf(ctx, org.id, job.id, log, place)) ?? noLog() }
  }
  const row = await archivedBuilds.findVisibleLog(ctx.db, org, caller, params)
  if (row === undefined) throw notFound('No job found')
  const log = archivedLog(ctx, row)
  return { job: { ...row, id: row.job_id }, log, getRows: async (place) => replayedRows(log, place) }
}

const getLog = async (ctx: Context, orgId: string, jobId: string): Promise<Log> =>
  (await findLog(ctx, orgId, jobId)) ?? noLog()

function noLog(): never {
  throw notFound('No log found')
}

export const logRoutes = [
  route({ ...get, permission: 'member', url: '/v2/organizations/:org/jobs/:job/log' }),
  route({
    ...get,
    permission: 'read_pipeline',
    url: '/v2/organizations/:org/pipelines/:pipeline/builds/:build/jobs/:job/log',
  }),
  route({ ...getText, permission: 'member', url: '/v2/organizations/:org/jobs/:job/log.txt' }),
  route({
    ...getText,
    permission: 'read_pipeline',
    url: '/v2/organizations/:org/pipelines/:pipeline/builds/:build/jobs/:job/log.txt',
  }),
  route({ ...getHtml, permission: 'member', url: '/v2/organizations/:org/jobs/:job/log.html' }),
  route({
    ...getHtml,
    permission: 'read_pipeline',
    url: '/v2/organizations/:org/pipelines/:pipeline/builds/:build/jobs/:job/log.html',
  }),
  route({ ...followIt, permission: 'member', url: '/v2/organizations/:org/jobs/:job/log/stream' }),
  route({
    ...followIt,
    permission: 'read_pipeline',
    url: '/v2/organizations/:org/pipelines/:pipeline/builds/:build/jobs/:job/log/stream',
  }),
  route({ ...deleteIt, permission: 'member', url: '/v2/organizations/:org/jobs/:job/log' }),
  route({
    ...deleteIt,
    permission: 'build_pipeline',
    url: '/v2/organizations/:org/pipelines/:pipeline/builds/:build/jobs/:job/log',
  }),
]
