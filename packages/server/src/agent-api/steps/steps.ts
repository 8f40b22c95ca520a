// Reads, updates and cancels steps of a job's build, and cancels the build.
import { sql } from 'kysely'
import {
  StepCancelRequest,
  StepExportRequest,
  StepUpdateRequest,
  type BuildCancelResponse,
  type StepCancelResponse,
  type StepExportResponse,
} from '@millrace/protocol/steps.ts'
import { act } from '../../conductor/act.ts'
import { ok } from '../../http/answer.ts'
import { refused } from '../../lib/errors.ts'
import { ownBuild, readableBuild } from '../other-builds.ts'
import { agentRoute, done } from '../route.ts'
import { exportStep } from './step-export.ts'
import { getStep } from './step-rows.ts'
import { updateStep } from './step-update.ts'

const exportAttribute = agentRoute({
  method: 'POST',
  url: '/v3/steps/:step/export',
  token: 'job',
  forks: 'own_build',
  body: StepExportRequest,
  async handler({ ctx, job, params, body }) {
    const buildId = await readableBuild(ctx, job, body.build_id, 'other')
    const step = await getStep(ctx.db, job.organizationId, buildId, params['step'] ?? '')
    const answer: StepExportResponse = {
      output: exportStep(step, body.attribute || null, body.format || null),
    }
    return ok(answer)
  },
})

const update = agentRoute({
  method: 'PUT',
  url: '/v3/steps/:step',
  token: 'job',
  forks: 'own_build',
  bodyLimitBytes: 8 * 1024 * 1024,
  body: StepUpdateRequest,
  async handler({ ctx, job, params, body }) {
    await updateStep(ctx, job.organizationId, ownBuild(job, body.build_id), params['step'] ?? '', {
      updateId: body.idempotency_uuid,
      attribute: body.attribute,
      value: body.value ?? '',
      append: body.append ?? false,
    })
    return done()
  },
})

const cancelStep = agentRoute({
  method: 'POST',
  url: '/v3/steps/:step/cancel',
  token: 'job',
  forks: 'own_build',
  body: StepCancelRequest,
  async handler({ ctx, job, params, body }) {
    const buildId = ownBuild(job, body.build_id)
    const { id: stepId } = await getStep(ctx.db, job.organizationId, buildId, params['step'] ?? '')
    const canceled = await act(ctx, job.organizationId, buildId, { type: 'cancel_step', stepId })
    if (!canceled.ok) throw refused(`${canceled.message}.`)
    if (body.force) {
      const until = new Date(ctx.now().getTime() + (body.force_grace_period ?? 10) * 1000).toISOString()
      // Jobs that an agent has not stopped by then end without it.
      await sql`
        update jobs set deadline_at = least(deadline_at, ${until}::timestamptz)
        where organization_id = ${job.organizationId} and step_id = ${stepId} and state = 'canceling'`.execute(
        ctx.db,
      )
    }
    const answer: StepCancelResponse = { uuid: stepId }
    return ok(answer)
  },
})

const cancelBuild = agentRoute({
  method: 'POST',
  url: '/v3/builds/:build/cancel',
  token: 'job',
  forks: 'own_build',
  async handler({ ctx, job, params }) {
    const buildId = ownBuild(job, params['build'])
    const event = { type: 'cancel_build', reason: 'A job of the build asked for it' } as const
    const canceled = await act(ctx, job.organizationId, buildId, event)
    // A repeated request succeeds.
    if (!canceled.ok && canceled.reason !== 'build_canceled') throw refused(`${canceled.message}.`)
    const answer: BuildCancelResponse = { uuid: buildId }
    return ok(answer)
  },
})

export const stepApi = [exportAttribute, update, cancelStep, cancelBuild]
