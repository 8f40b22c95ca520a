// Inserts an organization with an administrator, a token and a cluster.
import { scopes } from '@millrace/server/auth/scopes.ts'
import type { BuildRequest } from '@millrace/server/conductor/build.ts'
import type { Db } from '@millrace/server/db/pool.ts'
import { hashToken, newId } from '@millrace/server/lib/ids.ts'
import { createAccessToken } from '@millrace/server/resources/people/access-token/create.ts'
import { createMember } from '@millrace/server/resources/people/members/create.ts'
import { createOrganization } from '@millrace/server/resources/people/organizations/create.ts'

export interface Seeded {
  orgId: string
  slug: string
  userId: string
  token: string
  clusterId: string
}

const origin = { kind: 'operator', command: 'bench' } as const

export async function seedOrganization(db: Db, name = 'bench'): Promise<Seeded> {
  const { id: orgId, slug } = await createOrganization(db, origin, { slug: name, name })
  const email = `${name}@example.com`
  const user = await createMember(db, origin, {
    email,
    name: 'Bench',
    organizationSlug: slug,
    role: 'admin',
    passwordHash: null,
  })
  const { token } = await createAccessToken(db, origin, {
    email,
    scopes,
    organizationSlugs: [],
    description: 'bench',
    expiresAt: null,
    allowedIpAddresses: null,
  })
  const [clusterId, queueId] = [newId(), newId()]
  await db
    .insertInto('clusters')
    .values({ id: clusterId, organization_id: orgId, name: 'Bench', created_by: user.id })
    .execute()
  await db
    .insertInto('cluster_queues')
    .values({
      id: queueId,
      organization_id: orgId,
      cluster_id: clusterId,
      key: 'default',
      created_by: user.id,
    })
    .execute()
  await db.updateTable('clusters').set({ default_queue_id: queueId }).where('id', '=', clusterId).execute()
  return { orgId, slug, userId: user.id, token, clusterId }
}

export async function seedPipeline(
  db: Db,
  { orgId, clusterId, userId }: Seeded,
  slug: string,
  configuration: string,
): Promise<string> {
  const id = newId()
  await db
    .insertInto('pipelines')
    .values({
      id,
      organization_id: orgId,
      cluster_id: clusterId,
      slug,
      name: slug,
      repository: 'https://git.example.com/bench.git',
      configuration,
      webhook_token: newId(),
      badge_token: newId(),
      created_by: userId,
    })
    .execute()
  return id
}

/** Connected agents of the default queue, or of another one, without a process. */
export async function seedAgents(
  db: Db,
  { orgId, clusterId }: Seeded,
  count: number,
  otherQueueId?: string,
): Promise<{ agentIds: string[]; queueId: string }> {
  const queueId = otherQueueId ?? (await findDefaultQueue(db, clusterId))
  const agentIds = Array.from({ length: count }, newId)
  const at = new Date().toISOString()
  await db
    .insertInto('agents')
    .values(
      agentIds.map((id) => ({
        id,
        organization_id: orgId,
        cluster_id: clusterId,
        queue_id: queueId,
        name: id,
        hostname: 'bench',
        tags: ['queue=default'],
        connection_state: 'connected',
        session_hash: hashToken(id),
        connected_at: at,
        last_seen_at: at,
      })),
    )
    .execute()
  return { agentIds, queueId }
}

async function findDefaultQueue(db: Db, clusterId: string): Promise<string> {
  const { id } = await db
    .selectFrom('cluster_queues')
    .select('id')
    .where('cluster_id', '=', clusterId)
    .where('key', '=', 'default')
    .executeTakeFirstOrThrow()
  return id
}

export const aBuildRequest = (pipelineId: string, given: Partial<BuildRequest> = {}): BuildRequest => ({
  pipelineId,
  source: 'api',
  creatorId: null,
  author: null,
  commit: 'HEAD',
  commitOrigin: 'own',
  branch: 'main',
  tag: null,
  message: null,
  env: {},
  metaData: {},
  pullRequest: null,
  cleanCheckout: false,
  ignoreBranchFilters: false,
  rebuiltFrom: null,
  triggeredFrom: null,
  dueAt: null,
  ...given,
})
