// Builds whose events go to webhooks.
import { act } from '@millrace/server/conductor/act.ts'
import { createBuild } from '@millrace/server/conductor/create-build.ts'
import type { Context } from '@millrace/server/context.ts'
import { newId } from '@millrace/server/lib/ids.ts'
import { sealSecrets } from '@millrace/server/notifications/delivery/open-service.ts'
import { aBuildRequest } from '../harness/seed.ts'

/** A webhook gets these of every build. */
export const events = ['job.scheduled', 'job.started', 'job.finished', 'build.running', 'build.finished']

export interface Place {
  organizationId: string
  pipelineId: string
}

export async function runBuild(ctx: Context, { organizationId, pipelineId }: Place): Promise<void> {
  const made = await createBuild(ctx, organizationId, aBuildRequest(pipelineId, { message: 'bench' }))
  if (!made.ok) throw new Error(made.message)
  const { id: jobId } = await ctx.db
    .selectFrom('jobs')
    .select('id')
    .where('build_id', '=', made.buildId)
    .executeTakeFirstOrThrow()
  for (const type of ['assign', 'accept', 'start'] as const) {
    await act(ctx, organizationId, made.buildId, { type, jobId })
  }
  const end = { type: 'finish', jobId, exitStatus: 0, signal: null, signalReason: null } as const
  await act(ctx, organizationId, made.buildId, end)
}

export async function aWebhook(ctx: Context, organizationId: string, port: number): Promise<string> {
  const id = newId()
  const settings = {
    url: `http://127.0.0.1:${port}/`,
    token_mode: 'token',
    version: 3,
    events,
    tls_verify: true,
  }
  await ctx.db
    .insertInto('notification_services')
    .values({
      id,
      organization_id: organizationId,
      provider: 'webhook',
      settings: JSON.stringify(settings),
      ...sealSecrets(ctx.keys, { token: 'bench' }),
    })
    .execute()
  return id
}
