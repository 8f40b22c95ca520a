import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { notFound } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import * as organizations from '../organizations/queries.ts'
import * as banners from './queries.ts'
import type { SetBannerBody } from './schema.ts'

export async function setBanner(
  { ctx, org, caller }: RequestContext,
  { message }: SetBannerBody,
): Promise<banners.BannerRow> {
  return inTransaction(ctx.db, async (trx) => {
    await organizations.lock(trx, org.id)
    const before = await banners.findInOrg(trx, org.id)
    const isChanged = await banners.upsert(trx, {
      id: newId(),
      organization_id: org.id,
      message,
      created_by: caller.user.id,
      updated_at: ctx.now().toISOString(),
    })
    const after = await banners.findInOrg(trx, org.id)
    if (after === undefined) throw notFound('No banner found')
    if (isChanged) {
      await recordAudit(trx, byCaller(caller), {
        organizationId: org.id,
        type: before === undefined ? 'ORGANIZATION_BANNER_CREATED' : 'ORGANIZATION_BANNER_UPDATED',
        subject: { type: 'OrganizationBanner', uuid: after.id, name: org.name },
        data: { message },
      })
    }
    return after
  })
}

export async function deleteBanner({ ctx, org, caller }: RequestContext): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    await organizations.lock(trx, org.id)
    const banner = await banners.findInOrg(trx, org.id)
    // The second half is what public clients look for.
    if (banner === undefined)
      throw notFound('No banner found: the organization does not have an active banner')
    await banners.deleteInOrg(trx, org.id)
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'ORGANIZATION_BANNER_DELETED',
      subject: { type: 'OrganizationBanner', uuid: banner.id, name: org.name },
    })
  })
}
