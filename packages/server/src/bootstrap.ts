// A first start creates the installation's secret key, and in an empty database an organization with a demo pipeline.
import { randomBytes } from 'node:crypto'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { recordAudit, type Origin } from './audit/record.ts'
import { scopes } from './auth/scopes.ts'
import { createSignInLink } from './auth/sign-in-links.ts'
import { prepareDataDir } from './db/embedded/data-dir.ts'
import { errorCode, StartupError } from './db/embedded/startup-error.ts'
import type { Db, Trx } from './db/pool.ts'
import { inTransaction } from './db/transaction.ts'
import { hashToken, newId } from './lib/ids.ts'
import { createAccessToken } from './resources/people/access-token/create.ts'
import * as clusterTokens from './resources/clusters/cluster-tokens/queries.ts'
import * as clusters from './resources/clusters/clusters/queries.ts'
import { createMember } from './resources/people/members/create.ts'
import { createOrganization } from './resources/people/organizations/create.ts'
import * as pipelineSettings from './resources/pipelines/pipeline-settings/queries.ts'
import * as queues from './resources/clusters/queues/queries.ts'

export interface FirstOrganization {
  /** The slug. */
  organization: string
  administrator: string
  /** Shown only once. */
  token: string
  /** Signs the administrator in once, at `/sign-in?code=…`. */
  sign_in_code: string
}

const origin: Origin = { kind: 'operator', command: 'up' }
const administrator = { email: 'admin@localhost', name: 'Administrator' }

/** Returns null and creates nothing if there is an organization already. */
export async function bootstrap(
  db: Db,
  { slug, token, agentToken }: { slug: string; token: string | undefined; agentToken?: string | undefined },
): Promise<FirstOrganization | null> {
  if (await hasOrganization(db)) return null
  return inTransaction(db, async (trx) => {
    // If several processes start on an empty database, the first creates everything. The others wait here and find it.
    await sql`lock table organizations in share row exclusive mode`.execute(trx)
    if (await hasOrganization(trx)) return null
    const org = await createOrganization(trx, origin, { slug, name: nameOf(slug) })
    const admin = await createMember(trx, origin, {
      ...administrator,
      organizationSlug: slug,
      role: 'admin',
      passwordHash: null,
    })
    const issued = await createAccessToken(trx, origin, {
      email: admin.email,
      scopes,
      organizationSlugs: [],
      description: 'First token',
      expiresAt: null,
      allowedIpAddresses: null,
      ...(token === undefined ? {} : { value: token }),
    })
    const clusterId = await createDefaultCluster(trx, org.id, admin.id)
    if (agentToken !== undefined) await createAgentToken(trx, org.id, admin.id, clusterId, agentToken)
    await createDemoPipeline(trx, org.id, admin.id, clusterId)
    return {
      organization: slug,
      administrator: admin.email,
      token: issued.token,
      sign_in_code: await createSignInLink(trx, admin.id),
    }
  })
}

export async function hasOrganization(db: Db): Promise<boolean> {
  return (await db.selectFrom('organizations').select('id').limit(1).executeTakeFirst()) !== undefined
}

/** `my-team` becomes `My team`. */
function nameOf(slug: string): string {
  const words = slug.replaceAll('-', ' ').trim()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

async function createDefaultCluster(trx: Trx, orgId: string, userId: string): Promise<string> {
  const cluster = { id: newId(), name: 'Default cluster', description: '', emoji: null, color: null }
  const queue = { id: newId(), key: 'default' }
  const owner = { organization_id: orgId, created_by: userId }
  await clusters.insert(trx, { ...cluster, ...owner, hosted: false })
  await queues.insert(trx, { ...queue, ...owner, cluster_id: cluster.id })
  await clusters.updateInOrg(trx, orgId, cluster.id, { default_queue_id: queue.id })
  // Stored explicitly, because a second cluster must not change where new pipelines go.
  await pipelineSettings.lockOfOrg(trx, orgId)
  await pipelineSettings.updateOfOrg(trx, orgId, { default_cluster_id: cluster.id })
  await recordAudit(trx, origin, {
    organizationId: orgId,
    type: 'CLUSTER_CREATED',
    subject: { type: 'Cluster', uuid: cluster.id, name: cluster.name },
    data: { name: cluster.name, default_queue_id: queue.id },
  })
  await recordAudit(trx, origin, {
    organizationId: orgId,
    type: 'CLUSTER_QUEUE_CREATED',
    subject: { type: 'ClusterQueue', uuid: queue.id, name: queue.key },
    data: { cluster_id: cluster.id, key: queue.key },
  })
  return cluster.id
}

/** Agents whose owner has given them the same value can register at once. */
async function createAgentToken(
  trx: Trx,
  orgId: string,
  userId: string,
  clusterId: string,
  value: string,
): Promise<void> {
  const [id, description] = [newId(), 'First agents']
  const allowed_ip_addresses = '0.0.0.0/0 ::/0'
  await clusterTokens.insert(trx, {
    id,
    organization_id: orgId,
    cluster_id: clusterId,
    token_hash: hashToken(value),
    created_by: userId,
    description,
    allowed_ip_addresses,
    expires_at: null,
  })
  await recordAudit(trx, origin, {
    organizationId: orgId,
    type: 'CLUSTER_TOKEN_CREATED',
    subject: { type: 'ClusterToken', uuid: id, name: description },
    data: { cluster_id: clusterId, description, allowed_ip_addresses },
  })
}

// Doubled dollar signs reach the shell of the job, instead of being expanded when the pipeline is read.
const demoConfiguration = `env:
  BUILDKITE_SKIP_CHECKOUT: "true"
steps:
  - label: ":wave: Hello"
    command: echo "Hello from $$BUILDKITE_AGENT_NAME"
  - label: ":abacus: Count to three"
    command: for i in 1 2 3; do echo "--- $$i"; done
  - wait
  - label: ":checkered_flag: Done"
    command: buildkite-agent meta-data set demo "it works"
`

async function createDemoPipeline(trx: Trx, orgId: string, userId: string, clusterId: string): Promise<void> {
  const pipeline = { id: newId(), slug: 'demo', name: 'Demo' }
  await trx
    .insertInto('pipelines')
    .values({
      ...pipeline,
      organization_id: orgId,
      cluster_id: clusterId,
      description: 'Needs no repository: build it to see the local agent work.',
      repository: 'none',
      configuration: demoConfiguration,
      webhook_token: randomBytes(25).toString('hex'),
      badge_token: randomBytes(25).toString('hex'),
      created_by: userId,
    })
    .execute()
  await recordAudit(trx, origin, {
    organizationId: orgId,
    type: 'PIPELINE_CREATED',
    subject: { type: 'Pipeline', uuid: pipeline.id, name: pipeline.name },
    data: { name: pipeline.name, slug: pipeline.slug, cluster_id: clusterId },
  })
}

/** The first seals, all open. Without `given` the key is in the data directory, and is created if it is missing. */
export function readSecretKeys(dataDir: string, given: string | undefined): string[] {
  const found = findSecretKeys(dataDir, given)
  if (found.length > 0) return found
  prepareDataDir(dataDir)
  writeSecretKey(dataDir, randomBytes(32).toString('base64url'))
  return findSecretKeys(dataDir, given)
}

/** Stores the key of another installation, or refuses it if this one has another key. */
export function keepSecretKey(dataDir: string, given: string | undefined, key: string): void {
  const held = findSecretKeys(dataDir, given)
  if (held.length === 0) {
    prepareDataDir(dataDir)
    writeSecretKey(dataDir, key)
  } else if (!key.split(',').every((part) => held.includes(part))) {
    throw new StartupError(
      'The backup brings another secret key than this installation has: ' +
        `remove ${secretKeyFile(dataDir)}, or add the other key to MILLRACE_SECRET_KEY after a comma.`,
    )
  }
}

export const secretKeyFile = (dataDir: string) => join(dataDir, 'secret-key')

/** Empty if there is none yet. */
export function findSecretKeys(dataDir: string, given: string | undefined): string[] {
  const file = secretKeyFile(dataDir)
  const text = given ?? readIfPresent(file)
  if (text === null) return []
  const keys = text.split(',').map((key) => key.trim())
  if (keys.every((key) => key.length >= 32)) return keys
  throw new StartupError(
    `${file} does not hold a key of at least 32 characters: put back the key that was kept there.`,
  )
}

function readIfPresent(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw new StartupError(`${file} cannot be read (${errorCode(error)}): give this user access to it.`)
  }
}

/** Atomic, and never replaces a key: if two processes create one, the first counts. */
function writeSecretKey(dataDir: string, key: string): void {
  const file = secretKeyFile(dataDir)
  const own = `${file}.${process.pid}`
  writeFileSync(own, `${key}\n`, { mode: 0o600, flush: true })
  try {
    linkSync(own, file)
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
  } finally {
    rmSync(own, { force: true })
  }
}
