// The table of contents of background work: one handler per kind. A missing one does not compile.
import { watchAgents } from './conductor/lost-agents.ts'
import { sweep } from './conductor/sweep.ts'
import type { Context } from './context.ts'
import { buildImages } from './resources/agent-images/build.ts'
import { sweepImages } from './resources/agent-images/sweep.ts'
import { updateMirrors } from './hosting/mirrors.ts'
import { whileReachable } from './hosting/reachable.ts'
import { reconcile, tidyEngine } from './hosting/reconcile.ts'
import { switchReconciler } from './hosting/switches.ts'
import { dropVolumes } from './hosting/volumes.ts'
import { discardBlobs, expireArtifacts } from './resources/artifacts/expire.ts'
import { expireInvitations } from './resources/invitations/expire.ts'
import { revokeInactiveTokens } from './resources/access-token/revoke-inactive.ts'
import { compactLogs } from './resources/log/compact.ts'
import { fireDueSchedules } from './resources/schedules/fire.ts'
import { forgetIdempotencyKeys, forgetRateLimits } from './tasks/forget.ts'
import type { Handlers } from './tasks/kinds.ts'
import type { Round } from './tasks/rounds.ts'

export const handlers: Handlers<Context> = {
  expire_invitations: (ctx) => expireInvitations(ctx.db),
  revoke_inactive_tokens: (ctx) => revokeInactiveTokens(ctx.db),
  forget_idempotency_keys: (ctx) => forgetIdempotencyKeys(ctx.db),
  forget_rate_limits: (ctx) => forgetRateLimits(ctx.db),
}

/** What every worker looks for again and again. */
export const rounds: Readonly<Record<string, Round<Context>>> = {
  sweep: { everySeconds: 1, run: sweep },
  agents: { everySeconds: 2, run: watchAgents },
  fire_schedules: { everySeconds: 5, run: fireDueSchedules },
  compact_logs: { everySeconds: 10, run: compactLogs },
  reconcile_hosted: { everySeconds: 5, run: whileReachable(reconcile) },
  reconcile_switches: { everySeconds: 30, run: whileReachable(switchReconciler()) },
  tidy_hosted: { everySeconds: 300, run: whileReachable(tidyEngine) },
  update_git_mirrors: { everySeconds: 5, run: whileReachable(updateMirrors) },
  drop_cache_volumes: { everySeconds: 5, run: whileReachable(dropVolumes) },
  expire_artifacts: { everySeconds: 60, run: expireArtifacts },
  discard_blobs: { everySeconds: 30, run: discardBlobs },
  build_images: { everySeconds: 1, run: buildImages },
  sweep_images: { everySeconds: 60, run: sweepImages },
}
