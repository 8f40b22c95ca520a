// Encrypts secrets that earlier versions stored as plain text. It runs every hour and not at startup, because a server of
// the previous version, which reads only plain text, may still run then.
import { sql } from 'kysely'
import type { Context } from '../../../context.ts'
import { eachRowApart, mayBeTried } from '../../../db/each-row.ts'
import type { Trx } from '../../../db/pool.ts'
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
    const at = ctx.now().toISOString()
    const { rows } = await sql<{ id: string }>`
      select id from pipelines where ${isPlain} and ${mayBeTried('secrets', sql`pipelines.id::text`, at)}
      order by id limit ${atOnce}`.execute(ctx.db)
    await eachRowApart(
      ctx,
      'secrets',
      rows,
      ({ id }) => id,
      async ({ id }) => {
        if (await inTransaction(ctx.db, (trx) => seal(trx, ctx, id))) count += 1
      },
    )
    if (rows.length < atOnce) break
  }
  await sql`delete from git_mirrors where lease_until is null and ${hasUserinfo}`.execute(ctx.db)
  return count
}

const isPlain = sql`(webhook_token is not null or ${hasUserinfo})`

/** False: it was changed meanwhile. */
async function seal(trx: Trx, ctx: Context, pipelineId: string): Promise<boolean> {
  const { rows } = await sql<PlainRow>`
    select id, organization_id, repository, webhook_token from pipelines
    where id = ${pipelineId} and ${isPlain} for no key update`.execute(trx)
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
  return rows.length > 0
}
