import { call, type Answer } from '../../../api/call.ts'
import type { Operations } from '../../../api/operations.ts'
import { listQuery, query } from '../../../api/queries.ts'
import type { PipelineAddress } from '../queries.ts'

const pipeline = '/v2/organizations/{org}/pipelines/{pipeline}'
const schedules = `${pipeline}/schedules` as const

export type Schedule = Answer<`GET ${typeof schedules}`>[number]
type NewSchedule = NonNullable<Operations[`POST ${typeof schedules}`]['body']>
type ScheduleChange = NonNullable<Operations[`PATCH ${typeof schedules}/{schedule}`]['body']>

export const schedulesQuery = (params: PipelineAddress) =>
  listQuery(`GET ${schedules}`, { params, query: { per_page: 30 } })

/** When a cron line makes builds next. A line that cannot be read is refused with the reason. */
export const previewQuery = (params: PipelineAddress, cronline: string) => ({
  ...query(`GET ${schedules}/preview`, { params, query: { cronline } }),
  staleTime: 60_000,
})

export const createSchedule = (params: PipelineAddress, body: NewSchedule, idempotencyKey: string) =>
  call(`POST ${schedules}`, { params, body, idempotencyKey })

export const updateSchedule = (params: PipelineAddress, schedule: string, body: ScheduleChange) =>
  call(`PATCH ${schedules}/{schedule}`, { params: { ...params, schedule }, body })

export const deleteSchedule = (params: PipelineAddress, schedule: string) =>
  call(`DELETE ${schedules}/{schedule}`, { params: { ...params, schedule } })

/** A build as the schedule would make it, now and in the name of the person. */
export const runNow = (params: PipelineAddress, { branch, commit, env, label, message }: Schedule) =>
  call(`POST ${pipeline}/builds`, {
    params,
    body: {
      branch,
      commit,
      env,
      ...((message ?? label) === '' ? {} : { message: message ?? label }),
    },
  })
