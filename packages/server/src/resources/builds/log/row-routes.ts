import { Type } from 'typebox'
import type { Caller, Organization } from '../../../auth/caller.ts'
import type { Context } from '../../../context.ts'
import { ok, okJson, type Answer } from '../../../http/answer.ts'
import { workOf } from '../../../http/limits/gone.ts'
import { route } from '../../../http/route.ts'
import { badRequest, notFound } from '../../../lib/errors.ts'
import { withPlace } from '../../../lib/threads.ts'
import { getVisibleJob, type JobParams } from '../../addresses/jobs.ts'
import { indexJson } from './serve/index-json.ts'
import { findRows } from './rows/find-rows.ts'
import type { RowSource } from './rows/row-source.ts'
import { searchLog } from './rows/search.ts'
import { LogIndex, LogRows, LogSearch } from './schema.ts'
import { findLog } from './source.ts'

interface Asked {
  ctx: Context
  org: Organization
  caller: Caller
  params: JobParams
  gone: () => AbortSignal
}

const getIndex = {
  method: 'GET',
  summary: 'Get the groups of the log of a job, and the row that shows why it failed',
  scope: 'read_build_logs',
  answers: { 200: LogIndex },
  handler: answerIndex,
} as const

const mostRows = 2000

const getRows = {
  method: 'GET',
  summary: 'Get rows of the log of a job, as a terminal shows them',
  scope: 'read_build_logs',
  query: {
    from: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 2 ** 50, default: 1, description: 'The first row.' }),
    ),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: mostRows, default: 500, description: 'How many rows at most.' }),
    ),
    tail: Type.Optional(
      Type.Integer({ minimum: 1, maximum: mostRows, description: 'Instead of `from`: the last rows.' }),
    ),
  },
  answers: { 200: LogRows },
  errors: { 400: '`from`, `limit` or `tail` is not a whole number in range.' },
  handler: answerRows,
} as const

const search = {
  method: 'GET',
  summary: 'Search the rows of the log of a job',
  scope: 'read_build_logs',
  query: {
    q: Type.Optional(
      Type.String({ minLength: 1, maxLength: 1000, description: 'The text to search for. Required.' }),
    ),
    regex: Type.Optional(
      Type.Boolean({ default: false, description: '`q` is a regular expression in the syntax of RE2.' }),
    ),
    case: Type.Optional(Type.Boolean({ default: false, description: 'Distinguish upper and lower case.' })),
  },
  answers: { 200: LogSearch },
  errors: { 400: '`q` is missing or too long, or it is not a valid regular expression.' },
  handler: answerSearch,
} as const

async function answerIndex(asked: Asked): Promise<Answer> {
  return withRows(asked, async (source) => {
    const { total, outline } = await source.outline()
    return ok(indexJson(source.log, total, outline))
  })
}

async function answerRows(
  asked: Asked & { query: { from?: number; limit?: number; tail?: number } },
): Promise<Answer> {
  const { query } = asked
  return withRows(asked, async (source) => {
    const { from, total, rows } =
      query.tail === undefined
        ? await source.page(query.from ?? 1, query.limit ?? 500)
        : await source.tail(query.tail)
    const head = `{"from":${from},"total":${total},"is_final":${source.log.isFinal},"rows":[`
    return okJson(`${head}${rows.join(',')}]}`)
  })
}

async function answerSearch(
  asked: Asked & { query: { q?: string; regex?: boolean; case?: boolean } },
): Promise<Answer> {
  const { q, regex, case: isCaseSensitive } = asked.query
  const { ctx, org, caller, params } = asked
  const { id: jobId } = await getVisibleJob(ctx.db, org, caller, params)
  const log = (await findLog(ctx, org.id, jobId)) ?? noLog()
  if (q === undefined) throw badRequest('Query parameter q is missing: the text to search for.')
  const query = { text: q, isRegex: regex === true, isCaseSensitive: isCaseSensitive === true }
  const found = await withPlace(workOf('search', asked), (place) =>
    searchLog(ctx, { orgId: org.id, jobId, log }, query, place),
  )
  const { total, isComplete, searchedRows, matches } = found ?? noLog()
  return ok({ total, is_complete: isComplete, searched_rows: searchedRows, matches })
}

async function withRows(asked: Asked, answer: (source: RowSource) => Promise<Answer>): Promise<Answer> {
  const { ctx, org, caller, params } = asked
  const { id } = await getVisibleJob(ctx.db, org, caller, params)
  return withPlace(workOf('page', asked), async (place) =>
    answer((await findRows(ctx, org.id, id, place)) ?? noLog()),
  )
}

function noLog(): never {
  throw notFound('No log found')
}

export const rowRoutes = [
  route({ ...getIndex, permission: 'member', url: '/v2/organizations/:org/jobs/:job/log/index' }),
  route({
    ...getIndex,
    permission: 'read_pipeline',
    url: '/v2/organizations/:org/pipelines/:pipeline/builds/:build/jobs/:job/log/index',
  }),
  route({ ...getRows, permission: 'member', url: '/v2/organizations/:org/jobs/:job/log/rows' }),
  route({
    ...getRows,
    permission: 'read_pipeline',
    url: '/v2/organizations/:org/pipelines/:pipeline/builds/:build/jobs/:job/log/rows',
  }),
  route({ ...search, permission: 'member', url: '/v2/organizations/:org/jobs/:job/log/search' }),
  route({
    ...search,
    permission: 'read_pipeline',
    url: '/v2/organizations/:org/pipelines/:pipeline/builds/:build/jobs/:job/log/search',
  }),
]
