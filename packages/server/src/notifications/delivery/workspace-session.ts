// Finds the chat workspace of an organization for a pipeline whose `notify` names a channel.
import { sql } from 'kysely'
import type { Context } from '../../context.ts'
import { openOAuthSession } from './oauth-session.ts'
import { openService, type SealedService } from './open-service.ts'
import { DeliveryFailed, type OAuthSession, type Send } from '../provider.ts'

/** Without a name: the workspace that was connected first. */
export async function openWorkspaceSession(
  ctx: Context,
  orgId: string,
  name: string | undefined,
  send: Send,
): Promise<OAuthSession> {
  const isNamed =
    name === undefined ? sql`true` : sql`lower(settings ->> 'workspace_name') = ${name.toLowerCase()}`
  const { rows } = await sql<SealedService>`
    select id, provider, organization_id, build_states, settings, secrets_sealed, secrets_key_id, null as creator
    from notification_services
    where organization_id = ${orgId} and provider = 'chat_workspace' and disabled_at is null and broken_at is null
      and ${isNamed}
    order by created_at, id limit 1`.execute(ctx.db)
  if (rows[0] === undefined) {
    const which = name === undefined ? 'chat workspace' : `chat workspace named ${name.slice(0, 100)}`
    throw new DeliveryFailed(`No ${which} is connected to the organization, or it is disabled.`, {
      isFinal: true,
    })
  }
  return openOAuthSession(ctx, openService(ctx.keys, rows[0]), send)
}
