import type { Static } from 'typebox'
import { presentUserOrNull } from '../../people/user/present.ts'
import type { DeployKeyRow } from './queries.ts'
import type { DeployKey } from './schema.ts'

export const presentDeployKey = (url: string, key: DeployKeyRow): Static<typeof DeployKey> => ({
  public_key: key.public_key,
  fingerprint: key.fingerprint,
  created_at: key.created_at,
  created_by: presentUserOrNull(url, key.created_by),
})
