// The credentials and the webhook secret that a request sets on a connection.
import type { Context } from '../../../context.ts'
import { validationFailed } from '../../../lib/errors.ts'
import { mask } from '../../../lib/masks.ts'
import { readPrivateKey } from '../../../source-hosts/github/private-key.ts'
import { hostOfType } from '../../../source-hosts/hosts.ts'
import type { ConnectionFields } from './queries.ts'
import { isApp, readAppId, readInstallationId } from './rules.ts'
import type { UpdateRepositoryConnectionBody } from './schema.ts'

export const noCredentials = {
  token_sealed: null,
  token_key_id: null,
  token_hint: null,
  app_id: null,
  installation_id: null,
  private_key_sealed: null,
  private_key_id: null,
  private_key_hint: null,
  webhook_secret_sealed: null,
  webhook_secret_key_id: null,
  webhook_secret_hint: null,
}

type CredentialFields = Pick<ConnectionFields, keyof typeof noCredentials>

/** The fields that change. A secret that is sent back in the form in which it is shown does not. */
export function readCredentials(
  { keys }: Context,
  before: CredentialFields,
  body: UpdateRepositoryConnectionBody,
): Partial<CredentialFields> {
  const { token, webhook_secret: secret, private_key: key, app_id, installation_id } = body
  const isShown = (given: string | null, hint: string | null) => Boolean(given) && given === hint
  const fields: Partial<CredentialFields> = {
    ...(app_id === undefined ? {} : { app_id: readAppId(app_id) }),
    ...(installation_id === undefined ? {} : { installation_id: readInstallationId(installation_id) }),
  }
  if (token !== undefined && !isShown(token, before.token_hint)) {
    const box = token ? keys.seal(token) : null
    fields.token_sealed = box?.sealed ?? null
    fields.token_key_id = box?.keyId ?? null
    fields.token_hint = token ? mask(token) : null
  }
  if (secret !== undefined && !isShown(secret, before.webhook_secret_hint)) {
    const box = secret ? keys.seal(secret) : null
    fields.webhook_secret_sealed = box?.sealed ?? null
    fields.webhook_secret_key_id = box?.keyId ?? null
    fields.webhook_secret_hint = secret ? mask(secret) : null
  }
  if (key !== undefined && !isShown(key, before.private_key_hint)) {
    const given = key ? readPrivateKey(key) : null
    const box = given && keys.seal(given.pem)
    fields.private_key_sealed = box?.sealed ?? null
    fields.private_key_id = box?.keyId ?? null
    fields.private_key_hint = given?.fingerprint ?? null
  }
  return fields
}

export function refuseUselessCredentials(fields: ConnectionFields): void {
  const { type, token_sealed } = fields
  if (hostOfType(type).token === null && token_sealed !== null) {
    throw validationFailed('token is of no use: a plain git server has no API to send commit statuses to')
  }
  if (isApp(type) && token_sealed !== null) {
    throw validationFailed('token is of no use: a GitHub App makes its own, with private_key')
  }
  for (const [name, value] of [
    ['app_id', fields.app_id],
    ['installation_id', fields.installation_id],
    ['private_key', fields.private_key_hint],
  ]) {
    if (isApp(type) && value === null) throw validationFailed(`${name} is required for a GitHub App`)
    if (!isApp(type) && value !== null) {
      throw validationFailed(`${name} is of a GitHub App; type must be github_app or github_enterprise_app`)
    }
  }
}
