import type { Static } from 'typebox'
import { presentUserOrNull } from '../../people/user/present.ts'
import type { ConnectionRow } from './queries.ts'
import { hostOfType } from '../../../source-hosts/hosts.ts'
import type { RepositoryConnection } from './schema.ts'

export const presentConnection = (
  url: string,
  connection: ConnectionRow,
): Static<typeof RepositoryConnection> => ({
  id: connection.id,
  type: connection.type,
  display_name: `${hostOfType(connection.type).name} at ${addressOf(connection)}`,
  url: connection.url,
  host: { type: hostOfType(connection.type).providerOf(connection.host), url: connection.url },
  api_url: connection.api_url,
  repository_host: connection.host,
  token: connection.token_hint,
  app_id: connection.app_id,
  installation_id: connection.installation_id,
  private_key: connection.private_key_hint,
  webhook_secret: connection.webhook_secret_hint,
  checkout_enabled: connection.checkout_enabled,
  problem: connection.problem,
  problem_at: connection.problem_at,
  created_at: connection.created_at,
  created_by: presentUserOrNull(url, connection.created_by),
})

/** The host, with its port unless that is a usual one. */
const addressOf = ({ host, port }: ConnectionRow): string =>
  port === 80 || port === 443 ? host : `${host}:${port}`
