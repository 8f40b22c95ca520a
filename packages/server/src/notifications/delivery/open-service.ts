// Decrypts the secrets of a service for its sender.
import type { Keyring } from '../../auth/keyring.ts'
import type { BuildStateName, ProviderId } from '../names.ts'
import type { Service, Settings } from '../provider.ts'

export interface SealedService {
  id: string
  provider: ProviderId
  organization_id: string
  build_states: readonly BuildStateName[]
  settings: Settings
  secrets_sealed: Buffer | null
  secrets_key_id: string | null
  creator: { id: string; name: string } | null
}

export const openSettings = (
  keys: Keyring,
  {
    settings,
    secrets_sealed: sealed,
    secrets_key_id: keyId,
  }: Pick<SealedService, 'settings' | 'secrets_sealed' | 'secrets_key_id'>,
): Settings =>
  sealed === null || keyId === null
    ? settings
    : { ...settings, ...(JSON.parse(keys.open(sealed, keyId)) as Settings) }

export const openService = (keys: Keyring, row: SealedService): Service => ({
  id: row.id,
  provider: row.provider,
  organizationId: row.organization_id,
  buildStates: row.build_states,
  settings: openSettings(keys, row),
  creator: row.creator,
})

export function sealSecrets(
  keys: Keyring,
  secrets: Settings,
): { secrets_sealed: Buffer | null; secrets_key_id: string | null } {
  if (Object.keys(secrets).length === 0) return { secrets_sealed: null, secrets_key_id: null }
  const { sealed, keyId } = keys.seal(JSON.stringify(secrets))
  return { secrets_sealed: sealed, secrets_key_id: keyId }
}
