// A service as its sender needs it, with its secrets open.
import { sql } from 'kysely'
import type { Keyring } from '../auth/keyring.ts'
import type { Db } from '../db/pool.ts'
import type { BuildStateName, ProviderId } from './names.ts'
import type { Service, Settings } from './provider.ts'

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

/** Replaces some secret settings of a service. */
export async function changeSecrets(
  db: Db,
  keys: Keyring,
  service: Service,
  change: Settings,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const { rows } = await sql<Pick<SealedService, 'secrets_sealed' | 'secrets_key_id'>>`
      select secrets_sealed, secrets_key_id from notification_services
      where organization_id = ${service.organizationId} and id = ${service.id} for update`.execute(trx)
    const [row] = rows
    if (row === undefined) return
    const secrets = { ...openSettings(keys, { settings: {}, ...row }), ...change }
    await trx
      .updateTable('notification_services')
      .set(sealSecrets(keys, secrets))
      .where('organization_id', '=', service.organizationId)
      .where('id', '=', service.id)
      .execute()
  })
}
