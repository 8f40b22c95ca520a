// The chat workspaces of an organization, for pipelines that name a channel.
import { sql } from 'kysely'
import type { Context } from '../../context.ts'
import { doorOf } from './oauth-session.ts'
import { openService, type SealedService } from './open-service.ts'
import { DeliveryFailed, type Door, type Send } from '../provider.ts'

/** By name; without one, the workspace that was connected first. */
export async function workspaceDoor(
  ctx: Context,
  orgId: string,
  name: string | undefined,
  send: Send,
): Promise<Door> {
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
  return doorOf(ctx, openService(ctx.keys, rows[0]), send)
}
