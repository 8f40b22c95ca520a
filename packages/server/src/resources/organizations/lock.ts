import type { Trx } from '../../db/pool.ts'

/**
 * For what must hold of an organization as a whole, such as having an administrator: such changes wait for each
 * other. Changes that merely refer to the organization do not wait.
 */
export async function lockOrganization(trx: Trx, orgId: string): Promise<void> {
  await trx.selectFrom('organizations').select('id').where('id', '=', orgId).forNoKeyUpdate().execute()
}
