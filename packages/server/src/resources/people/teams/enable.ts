import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import * as organizations from '../organizations/queries.ts'
import { insertTeam } from './create.ts'
import * as teams from './queries.ts'

export async function enableTeams({ ctx, org, caller }: RequestContext): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    await organizations.lock(trx, org.id)
    if (await teams.enableInOrg(trx, org.id, ctx.now().toISOString())) {
      await recordAudit(trx, byCaller(caller), {
        organizationId: org.id,
        type: 'ORGANIZATION_TEAMS_ENABLED',
        subject: { type: 'Organization', uuid: org.id, name: org.name },
      })
    }
    if ((await teams.countInOrg(trx, org.id)) > 0) return
    const everyone = await insertTeam(trx, org, caller, { name: 'Everyone', is_default_team: true })
    await teams.insertEveryone(trx, org.id, everyone.id)
  })
}
