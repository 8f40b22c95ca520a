import { recordAudit, type Origin } from '../../../audit/record.ts'
import { isFeature, features } from '../../../auth/features.ts'
import type { Db } from '../../../db/pool.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { notFound, validationFailed } from '../../../lib/errors.ts'

/** Returns the features that are on afterwards. */
export const enableFeature = (db: Db, origin: Origin, slug: string, feature: string): Promise<string[]> =>
  updateFeatures(db, origin, slug, { feature, isOn: true })

/** Returns the features that are on afterwards. */
export const disableFeature = (db: Db, origin: Origin, slug: string, feature: string): Promise<string[]> =>
  updateFeatures(db, origin, slug, { feature, isOn: false })

async function updateFeatures(
  db: Db,
  origin: Origin,
  slug: string,
  { feature, isOn }: { feature: string; isOn: boolean },
): Promise<string[]> {
  if (!isFeature(feature))
    throw validationFailed(`there is no feature "${feature}"; there are ${features.join(', ')}`)
  return inTransaction(db, async (trx) => {
    const org = await trx
      .selectFrom('organizations')
      .select(['id', 'name', 'features', 'features_off'])
      .where('slug', '=', slug)
      .forNoKeyUpdate()
      .executeTakeFirst()
    if (org === undefined) throw notFound(`There is no organization "${slug}".`)
    const after = features.filter((name) => (name === feature ? isOn : org.features.includes(name)))
    const off = features.filter((name) => (name === feature ? !isOn : org.features_off.includes(name)))
    await trx
      .updateTable('organizations')
      .set({ features: after, features_off: off })
      .where('id', '=', org.id)
      .execute()
    await recordAudit(trx, origin, {
      organizationId: org.id,
      type: 'ORGANIZATION_UPDATED',
      subject: { type: 'Organization', uuid: org.id, name: org.name },
      data: { [feature]: isOn },
    })
    return after
  })
}
