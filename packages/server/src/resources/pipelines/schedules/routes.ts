import { Type } from 'typebox'
import { created, noContent, ok } from '../../../http/answer.ts'
import { pageAnswer, readPage } from '../../../http/paging.ts'
import { route } from '../../../http/route.ts'
import { notFound, validationFailed } from '../../../lib/errors.ts'
import { nextRuns, readCronline } from './cronline.ts'
import { createSchedule, deleteSchedule, updateSchedule } from './update.ts'
import { presentSchedule } from './present.ts'
import * as schedules from './queries.ts'
import { CreateSchedule, PreviewQuery, Schedule, SchedulePreview, UpdateSchedule } from './schema.ts'

const listSchedulesRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/pipelines/:pipeline/schedules',
  summary: 'List the schedules of a pipeline, newest first',
  scope: 'read_pipelines',
  permission: 'read_pipeline',
  paging: 'pages',
  answers: { 200: Type.Array(Schedule) },
  async handler({ ctx, org, params, url }) {
    const page = readPage(url)
    const rows = await schedules.listInPipeline(ctx.db, org.id, params.pipeline, page)
    return pageAnswer(page, rows, (row) => presentSchedule(ctx.config.url, org.slug, row))
  },
})

const getScheduleRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/pipelines/:pipeline/schedules/:schedule',
  summary: 'Get a schedule of a pipeline',
  scope: 'read_pipelines',
  permission: 'read_pipeline',
  answers: { 200: Schedule },
  async handler({ ctx, org, params }) {
    const schedule = await schedules.findInPipeline(ctx.db, org.id, params.pipeline, params.schedule)
    if (schedule === undefined) throw notFound('No schedule found')
    return ok(presentSchedule(ctx.config.url, org.slug, schedule))
  },
})

const mostPreviewed = 5

const previewScheduleRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/pipelines/:pipeline/schedules/preview',
  summary: 'Get when a cron line would make builds next',
  scope: 'read_pipelines',
  permission: 'read_pipeline',
  query: PreviewQuery,
  answers: { 200: SchedulePreview },
  errors: { 422: 'The cron line cannot be read.' },
  async handler({ ctx, query: { cronline = '' } }) {
    const read = readCronline(cronline)
    if (!read.ok) throw validationFailed(`cronline ${read.reason}`)
    const times = nextRuns(read.cronline, ctx.now(), mostPreviewed)
    return ok({ builds_at: times.map((time) => time.toISOString()) })
  },
})

const createScheduleRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/pipelines/:pipeline/schedules',
  summary: 'Create a schedule that builds the pipeline again and again',
  scope: 'write_pipelines',
  permission: 'edit_pipeline',
  body: CreateSchedule,
  answers: { 201: Schedule },
  errors: { 422: 'The body is not valid, or the cron line cannot be read.' },
  async handler({ ctx, org, caller, params, body }) {
    const schedule = await createSchedule({ ctx, org, caller }, params.pipeline, body)
    return created(presentSchedule(ctx.config.url, org.slug, schedule))
  },
})

const updateScheduleRoute = route({
  method: ['PUT', 'PATCH'],
  url: '/v2/organizations/:org/pipelines/:pipeline/schedules/:schedule',
  summary: 'Update a schedule; enabling it again clears its failure',
  scope: 'write_pipelines',
  permission: 'edit_pipeline',
  body: UpdateSchedule,
  answers: { 200: Schedule },
  errors: { 422: 'The body is not valid, or the cron line cannot be read.' },
  async handler({ ctx, org, caller, params, body }) {
    const schedule = await updateSchedule({ ctx, org, caller }, params, body)
    return ok(presentSchedule(ctx.config.url, org.slug, schedule))
  },
})

const deleteScheduleRoute = route({
  method: 'DELETE',
  url: '/v2/organizations/:org/pipelines/:pipeline/schedules/:schedule',
  summary: 'Delete a schedule',
  scope: 'write_pipelines',
  permission: 'edit_pipeline',
  answers: { 204: null },
  async handler({ ctx, org, caller, params }) {
    await deleteSchedule({ ctx, org, caller }, params)
    return noContent()
  },
})

export const scheduleRoutes = [
  listSchedulesRoute,
  previewScheduleRoute,
  getScheduleRoute,
  createScheduleRoute,
  updateScheduleRoute,
  deleteScheduleRoute,
]
