import type { Keyring } from '../../../auth/keyring.ts'
import { openService } from '../../../notifications/delivery/open-service.ts'
import type { Service } from '../../../notifications/provider.ts'
import type { ServiceRow } from './queries.ts'

/** The service with decrypted secrets, as its provider needs it. */
export function openRow(keys: Keyring, row: ServiceRow): Service {
  const { created_by: creator } = row
  return openService(keys, { ...row, creator: creator && { id: creator.id, name: creator.name } })
}
