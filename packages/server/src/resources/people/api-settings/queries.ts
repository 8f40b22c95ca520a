import type { Db, Trx } from '../../../db/pool.ts'

export interface ApiSettingsRow {
  allowed_ip_addresses: string | null
  revoke_inactive_tokens_after_days: number | null
  restrict_user_api_token_creation: boolean
}

export const columns = [
  'allowed_ip_addresses',
  'revoke_inactive_tokens_after_days',
  'restrict_user_api_token_creation',
] as const

export function getOfOrg(db: Db, orgId: string): Promise<ApiSettingsRow> {
  return db.selectFrom('organizations').select(columns).where('id', '=', orgId).executeTakeFirstOrThrow()
}

/** Until the transaction ends, no other transaction updates the settings. */
export function lockOfOrg(trx: Trx, orgId: string): Promise<ApiSettingsRow> {
  return trx
    .selectFrom('organizations')
    .select(columns)
    .where('id', '=', orgId)
    .forUpdate()
    .executeTakeFirstOrThrow()
}

export async function updateOfOrg(trx: Trx, orgId: string, settings: ApiSettingsRow): Promise<void> {
  await trx.updateTable('organizations').set(settings).where('id', '=', orgId).execute()
}
