// Secrets of the job's cluster.
import { sql } from 'kysely'
import type { SecretResponse } from '@millrace/protocol/secrets.ts'
import { recordAudit } from '../../audit/record.ts'
import type { Context } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { ok } from '../../http/answer.ts'
import { badRequest, forbidden, notFound } from '../../lib/errors.ts'
import { permits, type Claims } from '../../resources/clusters/secrets/rules.ts'
import { agentRoute, lastOf, type AgentRequest } from '../route.ts'
import type { RunningJob } from '../tokens.ts'

const getSecret = agentRoute({
  method: 'GET',
  url: '/v3/jobs/:job/secrets',
  token: 'job',
  forks: { refused: 'secrets' },
  async handler({ ctx, job, query, request }) {
    const key = lastOf(query['key'])
    if (!key) throw badRequest('Which secret? Its key is missing.')
    const answer: SecretResponse = await readSecret(ctx, job, key, request)
    return ok(answer)
  },
})

interface SealedSecret {
  id: string
  key: string
  policy: string
  sealed: Buffer
  keyId: string
}

/** Keys are case-insensitive. Every read is audited. */
async function readSecret(
  ctx: Context,
  job: RunningJob,
  key: string,
  request: AgentRequest,
): Promise<SecretResponse> {
  return inTransaction(ctx.db, async (trx) => {
    const { rows } = await sql<SealedSecret>`
      select id, key, policy, value_sealed as sealed, value_key_id as "keyId" from cluster_secrets
      where organization_id = ${job.organizationId} and cluster_id = ${job.clusterId} and lower(key) = lower(${key})
      order by key = ${key} desc, created_at limit 1`.execute(trx)
    const [secret] = rows
    if (secret === undefined) throw notFound('No secret found')
    if (!permits(secret.policy, await claimsOf(ctx, job))) {
      throw forbidden(`The policy of the secret ${secret.key} does not let this job read it.`)
    }
    await sql`update cluster_secrets set last_read_at = ${ctx.now().toISOString()} where id = ${secret.id}`.execute(
      trx,
    )
    await recordAudit(
      trx,
      { kind: 'agent', agent: contextOf(job, request) },
      {
        organizationId: job.organizationId,
        type: 'SECRET_READ',
        subject: { type: 'Secret', uuid: secret.id, name: secret.key },
        data: { job_id: job.id, build_id: job.buildId, pipeline_id: job.pipelineId },
      },
    )
    return { key: secret.key, value: ctx.keys.open(secret.sealed, secret.keyId), uuid: secret.id }
  })
}

export const contextOf = ({ agent, organizationId }: RunningJob, { ip }: AgentRequest) => ({
  id: agent.id,
  name: agent.name,
  connectionState: agent.connectionState,
  organizationId,
  requestIp: ip,
  sessionIp: agent.ipAddress,
})

async function claimsOf(ctx: Context, job: RunningJob): Promise<Claims> {
  const { rows } = await sql<Claims>`
    select array[p.id::text] as pipeline_id, array[p.slug] as pipeline_slug, array[b.source] as build_source,
      array[b.branch] as build_branch, array_remove(array[u.email], null) as build_creator,
      array(select m.team_id::text from team_members m
        where m.organization_id = b.organization_id and m.user_id = b.creator_id) as build_creator_team,
      array_remove(array[q.id::text], null) as cluster_queue_id, array_remove(array[q.key], null) as cluster_queue_key
    from builds b join pipelines p on p.id = b.pipeline_id
    left join users u on u.id = b.creator_id left join cluster_queues q on q.id = ${job.queueId}::uuid
    where b.organization_id = ${job.organizationId} and b.id = ${job.buildId}`.execute(ctx.db)
  const [claims] = rows
  if (claims === undefined) throw new Error('A build vanished while its job read a secret.')
  return claims
}

export const secretApi = [getSecret]
