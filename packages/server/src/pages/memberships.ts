import type { Db } from '../db/pool.ts'
import type { Session } from './page.ts'

/** The organizations of the user that the session may use. */
export async function listMemberships(
  db: Db,
  { user, organizationIds }: Pick<Session, 'user' | 'organizationIds'>,
): Promise<Array<{ slug: string; name: string }>> {
  const found = db
    .selectFrom('organization_members as m')
    .innerJoin('organizations as o', 'o.id', 'm.organization_id')
    .select(['o.slug', 'o.name'])
    .where('m.user_id', '=', user.id)
    .orderBy('o.name')
    .orderBy('o.id')
  return (organizationIds === null ? found : found.where('o.id', 'in', [...organizationIds])).execute()
}
