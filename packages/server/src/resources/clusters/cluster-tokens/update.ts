import { byCaller, changedAttributes, recordAudit } from '../../../audit/record.ts'
import { endSessions, loseJobs } from '../../../conductor/revoke-agents.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { isInRanges } from '../../../lib/ip-ranges.ts'
import * as clusterTokens from './queries.ts'
import { readFields } from './rules.ts'
import type { UpdateClusterTokenBody } from './schema.ts'

const audited = ['description', 'allowed_ip_addresses', 'expires_at'] as const

/**
 * Ends the sessions of agents that the changed token no longer admits, and ends their jobs as
 * those of lost agents.
 */
export async function updateClusterToken(
  { ctx, org, caller }: RequestContext,
  clusterId: string,
  tokenId: string,
  body: UpdateClusterTokenBody,
): Promise<clusterTokens.ClusterTokenRow> {
  const change = readFields(body)
  const { token, revoked } = await inTransaction(ctx.db, async (trx) => {
    const before = await clusterTokens.lockInCluster(trx, org.id, clusterId, tokenId)
    await clusterTokens.updateInCluster(trx, org.id, clusterId, tokenId, change)
    const after = { ...before, ...change }
    const now = ctx.now().toISOString()
    const agents = await clusterTokens.listAgents(trx, org.id, tokenId)
    const ended = agents.filter(isNoLongerAllowed(before, after, now)).map(({ id }) => id)
    await endSessions(trx, org.id, ended, now)
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'CLUSTER_TOKEN_UPDATED',
      subject: { type: 'ClusterToken', uuid: tokenId, name: after.description },
      data: changedAttributes(before, after, audited),
    })
    return { token: after, revoked: ended }
  })
  await loseJobs(ctx, org.id, revoked)
  return token
}

/** A time or range that the body repeats unchanged ends no session. */
function isNoLongerAllowed(
  before: clusterTokens.ClusterTokenFields,
  after: clusterTokens.ClusterTokenFields,
  now: string,
): (agent: { ip_address: string | null }) => boolean {
  const isOver =
    after.expires_at !== null && after.expires_at !== before.expires_at && after.expires_at <= now
  const isMoved = after.allowed_ip_addresses !== before.allowed_ip_addresses
  return ({ ip_address: ip }) => isOver || (isMoved && !isInRanges(ip ?? '', after.allowed_ip_addresses))
}
