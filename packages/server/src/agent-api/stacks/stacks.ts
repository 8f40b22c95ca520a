// For programs that start an agent for each job, such as the controller of a Kubernetes cluster: they list
// the scheduled jobs, reserve some, and start agents that acquire those jobs by id.
import type { JobState } from '@millrace/engine/states.ts'
import {
  BatchReserveRequest,
  JobStatesRequest,
  StackFinishRequest,
  StackNotificationsRequest,
  StackRegisterRequest,
} from '@millrace/protocol/stacks.ts'
import { environmentOf } from '../../conductor/environment.ts'
import { reserveJobs } from '../../conductor/dispatch/reserve.ts'
import { reservationSeconds } from '../../conductor/timers.ts'
import { noContent, ok } from '../../http/answer.ts'
import { decodePosition, encodePosition } from '../../http/cursors.ts'
import { badRequest, notFound, refused } from '../../lib/errors.ts'
import { isUuid } from '../../lib/ids.ts'
import { agentRoute, done, lastOf } from '../route.ts'
import { finishForStack } from './stack-finish.ts'
import { storeNotifications } from './stack-notifications.ts'
import * as stacks from './stack-rows.ts'

const register = agentRoute({
  method: 'POST',
  url: '/v3/stacks/register',
  token: 'registration',
  body: StackRegisterRequest,
  async handler({ ctx, registration, body: { key, type, queue_key, metadata } }) {
    const given = metadata ?? {}
    if (Object.keys(given).some((name) => name.length > 64))
      throw refused('Keys of metadata have at most 64 characters.')
    const queue = await stacks.getQueue(ctx, registration, queue_key)
    const saved = await stacks.saveStack(ctx, registration, { key, type, queueId: queue.id, metadata: given })
    const body = {
      id: saved.id,
      organization_uuid: registration.organization.id,
      cluster_queue_key: queue.key,
      key,
      type,
      metadata: given,
      last_connected_on: saved.lastConnectedAt,
      state: 'connected',
    }
    return { status: saved.isNew ? 201 : 200, body }
  },
})

const deregister = agentRoute({
  method: 'POST',
  url: '/v3/stacks/:stack/deregister',
  token: 'registration',
  async handler({ ctx, registration, params }) {
    // Its reservations stay: agents it has started may be about to acquire those jobs.
    await stacks.noteDisconnected(ctx, await stacks.getStack(ctx, registration, params['stack']))
    return noContent()
  },
})

const listScheduledJobs = agentRoute({
  method: 'GET',
  url: '/v3/stacks/:stack/scheduled-jobs',
  token: 'registration',
  async handler({ ctx, registration, params, query }) {
    const stack = await stacks.getStack(ctx, registration, params['stack'])
    const queue = await stacks.getQueue(ctx, registration, lastOf(query['queue_key']) ?? '')
    await stacks.noteConnected(ctx, stack)
    const list = `scheduled jobs ${queue.id}`
    const [limit, cursor] = [readLimit(lastOf(query['limit'])), lastOf(query['after'])]
    const after = cursor ? decodePosition(cursor, list, ctx.keys) : null
    const rows = await stacks.listScheduled(ctx.db, stack.organizationId, queue.id, {
      after,
      limit: limit + 1,
    })
    const jobs = rows.slice(0, limit)
    const last = jobs.at(-1)
    return ok({
      jobs,
      // Documented under one name and read under the other.
      cluster_queue: { id: queue.id, paused: queue.isPaused, dispatch_paused: queue.isPaused },
      page_info: {
        has_next_page: rows.length > limit,
        end_cursor: last ? encodePosition({ at: last.scheduled_at, id: last.id }, list, ctx.keys) : null,
      },
    })
  },
})

const batchReserve = agentRoute({
  method: 'PUT',
  url: '/v3/stacks/:stack/scheduled-jobs/batch-reserve',
  token: 'registration',
  body: BatchReserveRequest,
  async handler({ ctx, registration, params, body }) {
    const stack = await stacks.getStack(ctx, registration, params['stack'])
    const reservation = {
      organizationId: stack.organizationId,
      clusterId: stack.clusterId,
      stackId: stack.id,
      seconds: body.reservation_expiry_seconds || reservationSeconds,
    }
    const taken = new Set(await reserveJobs(ctx, reservation, body.job_uuids.filter(isUuid)))
    const wanted = [...new Set(body.job_uuids)]
    const isTaken = (id: string) => taken.has(id.toLowerCase())
    return ok({ reserved: wanted.filter(isTaken), not_reserved: wanted.filter((id) => !isTaken(id)) })
  },
})

const getJob = agentRoute({
  method: 'GET',
  url: '/v3/stacks/:stack/jobs/:job',
  token: 'registration',
  async handler({ ctx, registration, params }) {
    const stack = await stacks.getStack(ctx, registration, params['stack'])
    const [job] = await stacks.listStates(ctx.db, stack, [params['job'] ?? ''])
    if (job === undefined) throw notFound('No job found')
    const env = await environmentOf(ctx, stack.organizationId, job.id)
    return ok({ id: job.id, env, command: env['BUILDKITE_COMMAND'] ?? '' })
  },
})

const getStates = agentRoute({
  method: 'POST',
  url: '/v3/stacks/:stack/jobs/get-states',
  token: 'registration',
  body: JobStatesRequest,
  async handler({ ctx, registration, params, body }) {
    const stack = await stacks.getStack(ctx, registration, params['stack'])
    const jobs = await stacks.listStates(ctx.db, stack, body.job_uuids)
    return ok({ states: Object.fromEntries(jobs.map(({ id, state }) => [id, shownState(state)])) })
  },
})

const finishJob = agentRoute({
  method: 'POST',
  url: '/v3/stacks/:stack/jobs/:job/finish',
  token: 'registration',
  body: StackFinishRequest,
  async handler({ ctx, registration, params, body: { exit_status, detail } }) {
    const stack = await stacks.getStack(ctx, registration, params['stack'])
    const jobId = params['job'] ?? ''
    if (!isUuid(jobId)) throw notFound('No job found')
    if (Buffer.byteLength(detail) > 4096) throw refused('Detail must have at most 4096 bytes.')
    await finishForStack(ctx, stack, jobId, { exitStatus: exit_status ?? -1, detail })
    return done()
  },
})

const notify = agentRoute({
  method: 'POST',
  url: '/v3/stacks/:stack/notifications',
  token: 'registration',
  body: StackNotificationsRequest,
  async handler({ ctx, registration, params, body }) {
    const stack = await stacks.getStack(ctx, registration, params['stack'])
    return ok({ errors: await storeNotifications(ctx, stack, body.notifications) })
  },
})

function readLimit(text: string | undefined): number {
  if (text === undefined) return 100
  if (!/^[1-9]\d{0,8}$/.test(text)) throw badRequest('limit must be a whole number from 1 to 1000.')
  return Math.min(1000, Number(text))
}

const shownState = (state: JobState) => (state === 'passed' || state === 'failed' ? 'finished' : state)

export const stackApi = [
  register,
  deregister,
  listScheduledJobs,
  batchReserve,
  getJob,
  getStates,
  finishJob,
  notify,
]
