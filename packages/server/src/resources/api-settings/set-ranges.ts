import { recordAudit, type Origin } from '../../audit/record.ts'
import type { Db } from '../../db/pool.ts'
import { inTransaction } from '../../db/transaction.ts'
import { notFound } from '../../lib/errors.ts'
import * as apiSettings from './queries.ts'
import { readAllowed } from './update.ts'

/** For the operator, whom no range keeps out. null: requests may come from anywhere. Returns the ranges as they are kept. */
export async function setRanges(
  db: Db,
  origin: Origin,
  slug: string,
  ranges: string | null,
): Promise<string | null> {
  const allowed_ip_addresses = readAllowed(ranges)
  return inTransaction(db, async (trx) => {
    const org = await trx
      .selectFrom('organizations')
      .select(['id', 'name'])
      .where('slug', '=', slug)
      .executeTakeFirst()
    if (org === undefined) throw notFound(`There is no organization "${slug}".`)
    const before = await apiSettings.lockOfOrg(trx, org.id)
    await apiSettings.updateOfOrg(trx, org.id, { ...before, allowed_ip_addresses })
    await recordAudit(trx, origin, {
      organizationId: org.id,
      type: 'ORGANIZATION_SECURITY_SETTINGS_UPDATED',
      subject: { type: 'Organization', uuid: org.id, name: org.name },
      data: { allowed_ip_addresses },
    })
    return allowed_ip_addresses
  })
}
