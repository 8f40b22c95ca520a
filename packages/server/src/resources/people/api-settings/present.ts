import type { Static } from 'typebox'
import type { ApiSettingsRow } from './queries.ts'
import type { ApiSettings } from './schema.ts'

export const presentApiSettings = (
  url: string,
  orgSlug: string,
  settings: ApiSettingsRow,
): Static<typeof ApiSettings> => ({
  url: `${url}/v2/organizations/${orgSlug}/api-settings`,
  allowed_ip_addresses: settings.allowed_ip_addresses,
  revoke_inactive_tokens_after_days: settings.revoke_inactive_tokens_after_days,
  restrict_user_api_token_creation: settings.restrict_user_api_token_creation,
  features: { api_ip_allow_list: true, inactive_api_token_revocation: true },
})
