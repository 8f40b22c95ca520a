// Encrypts secrets that earlier versions stored as plain text. It runs every hour and not at startup, because a server of
// the previous version, which reads only plain text, may still run then.
import { sql } from 'kysely'
import type { Context } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { splitUserinfo } from '../../../lib/userinfo.ts'
import { sealUserinfo, sealWebhookToken } from './sealed.ts'

const atOnce = 200

interface PlainRow {
  id: string
  organization_id: string
  repository: string
  webhook_token: string | null
}

/** Matches URLs with userinfo, except ssh URLs that only name an account. */
const hasUserinfo = sql`(repository ~* '^[a-z][a-z0-9+.-]*://[^/?#]*@' and repository !~* '^[a-z0-9+.-]*ssh://[^:/?#]+@')`

/** Returns how many pipelines it changed. */
export async function sealPlainSecrets(ctx: Context): Promise<number> {
  let count = 0
  for (;;) {
    const sealed = await sealSome(ctx)
    count += sealed
    if (sealed < atOnce) break
  }
  await sql`delete from git_mirrors where lease_until is null and ${hasUserinfo}`.execute(ctx.db)
  return count
}

const sealSome = (ctx: Context): Promise<number> =>
  inTransaction(ctx.db, async (trx) => {
    const { rows } = await sql<PlainRow>`
      select id, organization_id, repository, webhook_token from pipelines
      where webhook_token is not null or ${hasUserinfo}
      order by id limit ${atOnce} for no key update`.execute(trx)
    for (const { id, organization_id: orgId, repository, webhook_token: token } of rows) {
      const { address, userinfo } = splitUserinfo(repository)
      await trx
        .updateTable('pipelines')
        .set({
          ...(token === null ? {} : sealWebhookToken(ctx.keys, token)),
          ...(userinfo === null ? {} : { repository: address, ...sealUserinfo(ctx.keys, userinfo) }),
        })
        .where('organization_id', '=', orgId)
        .where('id', '=', id)
        .execute()
      // If the two addresses differed, polling would start over and miss pushes.
      await trx
        .updateTable('pipeline_polls')
        .set({ repository: address })
        .where('organization_id', '=', orgId)
        .where('pipeline_id', '=', id)
        .where('repository', '=', repository)
        .execute()
    }
    return rows.length
  })
