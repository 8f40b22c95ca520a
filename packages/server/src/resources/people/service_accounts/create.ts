import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { validationFailed } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { serviceAccountEmail } from '../email.ts'
import * as organizations from '../organizations/queries.ts'
import * as teamMembers from '../team-members/queries.ts'
import * as accounts from './queries.ts'
import type { CreateServiceAccountBody } from './schema.ts'

export async function createServiceAccount(
  { ctx, org, caller }: RequestContext,
  body: CreateServiceAccountBody,
): Promise<accounts.ServiceAccountRow> {
  const id = newId()
  const { name, description = '', role = 'member', owner_ids: owners = [caller.user.id] } = body
  return inTransaction(ctx.db, async (trx) => {
    await organizations.lock(trx, org.id)
    await accounts.insert(trx, org.id, { id, name, email: serviceAccountEmail(id), description, role })
    if (!(await accounts.replaceOwners(trx, org.id, id, owners))) throw validationFailed(unknownOwner)
    await teamMembers.insertIntoDefaultTeams(trx, org.id, id)
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'SERVICE_ACCOUNT_CREATED',
      subject: { type: 'ServiceAccount', uuid: id, name },
      data: { description, role, owner_ids: owners },
    })
    return accounts.getInOrg(trx, org.id, id)
  })
}

export const unknownOwner = 'owner_ids must be the UUIDs of people who are members of the organization'
