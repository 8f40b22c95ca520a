// Whether the host of a repository has the webhook of a pipeline. The host is asked when somebody wants to know, and its answer is
// kept for a while, so that a page that reloads itself does not ask for each time.
import type { Context } from '../../../context.ts'
import { missingEvents, type Hook, type HookState } from '../../../source-hosts/hooks.ts'
import { isApp } from '../repository_connections/rules.ts'
import { HookRefusal, listOurHooks, openHooks, type HostHooks } from './host-hooks.ts'
import type { PipelineRow } from './queries.ts'

const keptMs = 30_000

export const readHookState = (ctx: Context, orgId: string, pipeline: PipelineRow): Promise<HookState> =>
  ctx.hookStates.get(keyOf(pipeline), ctx.now(), async () => ({
    value: await askHost(ctx, orgId, pipeline),
    endsAt: new Date(ctx.now().getTime() + keptMs),
  }))

/** After our own changes at the host. Other replicas show the new state when theirs has expired. */
export const forgetHookState = (ctx: Context, pipeline: PipelineRow): void =>
  ctx.hookStates.delete(keyOf(pipeline))

const keyOf = ({ id, repository }: PipelineRow) => `${id} ${repository}`

async function askHost(ctx: Context, orgId: string, pipeline: PipelineRow): Promise<HookState> {
  const checkedAt = ctx.now().toISOString()
  let hooks: HostHooks | null = null
  try {
    hooks = await openHooks(ctx, orgId, pipeline.repository)
    const ours = await listOurHooks(ctx, hooks, pipeline)
    return { ...stateOf(hooks, ours), checkedAt, canTest: hooks.api.testRequest !== null }
  } catch (error) {
    if (!(error instanceof HookRefusal)) throw error
    const reason = error.kind === 'unsupported' ? unsupported : error.message
    return { registered: null, reason, events: null, checkedAt: hooks && checkedAt, canTest: false }
  }
}

const unsupported = 'The host of the repository has no connection that could ask it.'

type Found = Pick<HookState, 'registered' | 'reason' | 'events'>

function stateOf({ hostName, api, connection }: HostHooks, ours: readonly Hook[]): Found {
  const active = ours.filter(({ isActive }) => isActive)
  const [hook, another] = active
  if (hook === undefined) {
    if (ours.length > 0) {
      return { registered: false, reason: `The webhook is switched off at ${hostName}.`, events: null }
    }
    return isApp(connection.type)
      ? { registered: null, reason: ofApp, events: null }
      : { registered: false, reason: `The repository at ${hostName} has no such webhook.`, events: null }
  }
  const missing = missingEvents(api.events, hook)
  const reason =
    another !== undefined
      ? `The repository has ${active.length} webhooks with this address, so each push is delivered ${active.length} times.`
      : missing.length > 0
        ? `It does not send these events: ${missing.join(', ')}.`
        : null
  return { registered: true, reason, events: [...hook.events] }
}

const ofApp =
  'The repository has no webhook of its own. The GitHub App may send its events, if the App has a webhook with this address.'
