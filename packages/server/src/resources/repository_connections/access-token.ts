// What a request in the name of the organization shows at the host of a repository: the token that a connection has, or one
// that is made for the purpose.
import type { Context } from '../../context.ts'
import {
  forgetInstallationToken,
  installationToken,
  type App,
  type Permissions,
} from './installation-token.ts'
import type { ConnectionFields } from './queries.ts'

export type Credentials = { id: string } & Pick<
  ConnectionFields,
  | 'api_url'
  | 'token_sealed'
  | 'token_key_id'
  | 'app_id'
  | 'installation_id'
  | 'private_key_sealed'
  | 'private_key_id'
  | 'private_key_hint'
>

/** Null: the connection is not that of a GitHub App. */
export function appOf(connection: Credentials): App | null {
  const { app_id, installation_id, private_key_sealed, private_key_id, private_key_hint } = connection
  if (!app_id || !installation_id || !private_key_sealed || !private_key_id || !private_key_hint) return null
  return {
    connectionId: connection.id,
    apiUrl: connection.api_url,
    appId: app_id,
    installationId: installation_id,
    sealed: private_key_sealed,
    keyId: private_key_id,
    fingerprint: private_key_hint,
  }
}

const holder = 'server'

/** Null: there is none. Throws TokenRefused where one was to be made. */
export async function accessToken(
  ctx: Context,
  connection: Credentials,
  repository: string,
  permissions: Permissions,
): Promise<string | null> {
  const { token_sealed: sealed, token_key_id: keyId } = connection
  if (sealed !== null && keyId !== null) return ctx.keys.open(sealed, keyId)
  const app = appOf(connection)
  return app === null ? null : installationToken(ctx, app, repository, permissions, holder)
}

/** The host has refused it: the next time, another is made where that is possible. */
export function forgetAccessToken(
  ctx: Context,
  connection: Credentials,
  repository: string,
  permissions: Permissions,
): void {
  const app = appOf(connection)
  if (app !== null) forgetInstallationToken(ctx, app, repository, permissions, holder)
}
