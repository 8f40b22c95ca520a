// One row of a loop over all organizations fails for good: a trigger of PostgreSQL raises for it. All other rows must advance,
// and the row itself must advance when the trigger is gone. A loop without a scene does not compile.
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import { anAgent, anAgentWorld } from '../test/agent-client.ts'
import { eventually, useOwnApp } from '../test/app.ts'
import {
  anAdmin,
  anOrganization,
  aPipeline,
  tokenId,
  unique,
  type TestOrganization,
  type TestUser,
} from '../test/builders.ts'
import { aConnectedService } from '../test/connected-service.ts'
import { MemoryEngine } from '../test/hosted/memory-engine.ts'
import { anOldBuild } from '../test/old-builds.ts'
import { aBuild, startJob, jobNamed } from '../test/runs.ts'
import type { Context } from './context.ts'
import { loops, type Loop } from './db/loops.ts'
import { newId } from './lib/ids.ts'
import { relay } from './notifications/outbox/relay.ts'
import { watchAgents } from './conductor/lost-agents.ts'
import { sweep } from './conductor/sweep.ts'
import { loadSnapshots } from './resources/notifications/services/load-snapshots.ts'
import { leaseBuilds } from './resources/clusters/agent-images/build-queries.ts'
import { logCompactor } from './resources/builds/log/ingest/compact.ts'
import { trackAgentActivity } from './auth/agent-activity.ts'
import { trackSessionUse } from './auth/sessions.ts'
import { trackTokenUse } from './auth/track-use.ts'
import { claimQueues, listPending } from './notifications/delivery/ordered-queues.ts'
import { startRecorder } from './notifications/delivery/recorder.ts'
import { openMessageCache } from './notifications/messages/message-cache.ts'
import { handlers, pollers, rowsElsewhere, rowsOfTasks } from './worker.ts'

const app = useOwnApp({ env: { MILLRACE_PING_HOLD_SECONDS: '0', MILLRACE_AGENT_DAYS: '10' } })

/** Each organization has a row; the first one is that of the row that fails. */
interface Scene {
  /** The statements that fail are those which change this row, where the column has the value of the organization's row. */
  table: string
  column: string
  /** Returns the value of the column. */
  make(org: TestOrganization, admin: TestUser): Promise<string>
  run(ctx: Context): Promise<unknown>
  /** Whether the row has been handled. */
  isDone(value: string): Promise<boolean>
  /** By default the scene runs now. */
  seconds?: number
}

const day = 24 * 60 * 60
const poller = (name: string) => (ctx: Context) =>
  pollers[name]?.run(ctx, new AbortController().signal) ?? Promise.reject(new Error(`No poller ${name}`))

/** Container engines that hold nothing: what rows say of them is lost. */
const onEngine = (name: string) => (ctx: Context) =>
  poller(name)({ ...ctx, hosted: new MemoryEngine().open('an empty engine') })

const finds = async (query: ReturnType<typeof sql>): Promise<boolean> =>
  (await query.execute(app.db)).rows.length > 0
const isGone = (table: string, column: string) => async (value: string) =>
  !(await finds(sql`select from ${sql.table(table)} where ${sql.ref(column)}::text = ${value}`))
const bytes = () => randomBytes(16)
const hex = (value: Buffer) => `\\x${value.toString('hex')}`

const aJob = async (org: TestOrganization, configuration = '[{command: a, timeout_in_minutes: 5}]') => {
  const build = await aBuild(app, org, await aPipeline(app, org, configuration))
  return { build, pipeline: build }
}

const jobIs = (state: string) => (id: string) =>
  finds(sql`select from jobs where id = ${id} and state = ${state}`)
const agentIs = (state: string) => (id: string) =>
  finds(sql`select from agents where id = ${id} and connection_state = ${state}`)

async function anIdleAgent(): Promise<string> {
  const { token } = await anAgentWorld(app)
  return (await anAgent(app, token)).id
}

/** Rows of one table that are only kept for a time. */
const expiring = (
  table: string,
  column: string,
  kind: keyof typeof handlers,
  make: Scene['make'],
): Scene => ({
  table,
  column,
  make,
  run: (ctx) => handlers[kind](ctx, {} as never),
  isDone: isGone(table, column),
})

const aPolledPipeline = async (org: TestOrganization): Promise<string> => {
  const { id } = await aPipeline(app, org, 'steps: [{ command: a }]')
  await sql`update pipelines set poll_interval_seconds = 60, repository = 'https://git.example/r.git' where id = ${id}`.execute(
    app.db,
  )
  return id
}

const aWebhook = (org: TestOrganization): Promise<string> =>
  aConnectedService(app, org, 'webhook', {
    url: 'https://192.0.2.1/',
    token: 'token',
    token_mode: 'token',
    version: 3,
    events: ['build.scheduled'],
    tls_verify: true,
  })

const aCacheBlob = async (org: TestOrganization, unusedAt: string | null): Promise<string> => {
  const [{ id: pipelineId }, id] = [await aPipeline(app, org, 'steps: [{ command: a }]'), newId()]
  await sql`
    insert into step_cache_blobs (id, organization_id, pipeline_id, digest, size_bytes, stored_bytes, blob_key, unused_at)
    values (${id}, ${org.id}, ${pipelineId}, ${bytes()}, 1, 1, ${`caches/${unique('blob')}`}, ${unusedAt})`.execute(
    app.db,
  )
  return id
}

const aDetachedVolume = async (org: TestOrganization, usedAt: string): Promise<string> => {
  const id = unique('volume')
  await sql`alter table cache_volumes drop constraint if exists cache_volumes_cluster_id_fkey`.execute(app.db)
  await sql`
    insert into cache_volumes (id, organization_id, cluster_id, tag, state, detached_at, used_at)
    values (${id}, ${org.id}, ${newId()}, 't', 'detached', ${usedAt}, ${usedAt})`.execute(app.db)
  return id
}

const scenes: Partial<Record<Loop, Scene>> = {
  deadlines: {
    table: 'jobs',
    column: 'id',
    make: async (org) => jobNamed(app, (await aJob(org)).build, 'a'),
    run: sweep,
    isDone: jobIs('expired'),
    seconds: 31 * day,
  },
  follow_ups: {
    table: 'builds',
    column: 'organization_id',
    async make(org) {
      const child = await aPipeline(app, org, '[{command: c}]')
      const build = await aBuild(app, org, await aPipeline(app, org, `[{trigger: ${child.slug}}]`))
      await sql`delete from builds where pipeline_id = ${child.id}`.execute(app.db)
      await sql`update jobs set triggered_build_id = null where build_id = ${build.id}`.execute(app.db)
      return org.id
    },
    run: sweep,
    isDone: (id) =>
      finds(
        sql`select from jobs where organization_id = ${id} and kind = 'trigger' and triggered_build_id is not null`,
      ),
    seconds: 10,
  },
  agents_silent: {
    table: 'agents',
    column: 'id',
    make: anIdleAgent,
    run: watchAgents,
    isDone: agentIs('lost'),
    seconds: 200,
  },
  agents_paused: {
    table: 'agents',
    column: 'id',
    async make() {
      const id = await anIdleAgent()
      await sql`update agents set paused_at = now(), resume_at = now() where id = ${id}`.execute(app.db)
      return id
    },
    run: watchAgents,
    isDone: (id) => finds(sql`select from agents where id = ${id} and paused_at is null`),
  },
  jobs_lost: {
    table: 'jobs',
    column: 'id',
    async make(org) {
      const id = await startJob(app, (await aJob(org)).build, 'a')
      const agentId = await anIdleAgent()
      await sql`update agents set connection_state = 'lost', lost_at = now() where id = ${agentId}`.execute(
        app.db,
      )
      await sql`update jobs set agent_id = ${agentId} where id = ${id}`.execute(app.db)
      return id
    },
    run: watchAgents,
    isDone: (id) => finds(sql`select from jobs where id = ${id} and state <> 'running'`),
  },
  agent_activity: {
    table: 'agents',
    column: 'id',
    async make() {
      const id = await anIdleAgent()
      await app.ctx.agentActivity.flush()
      await sql`update agents set last_seen_at = '2020-01-01' where id = ${id}`.execute(app.db)
      return id
    },
    async run(ctx) {
      const { rows } = await sql<{ id: string; organization_id: string }>`
        select id, organization_id from agents where last_seen_at = '2020-01-01'`.execute(app.db)
      const activity = trackAgentActivity(ctx, () => {})
      for (const { id, organization_id } of rows)
        activity.recordHeartbeat({ id, organizationId: organization_id })
      await activity.flush()
    },
    isDone: (id) => finds(sql`select from agents where id = ${id} and last_seen_at > '2020-01-02'`),
  },
  builds_deleted: {
    table: 'builds',
    column: 'pipeline_id',
    async make(org) {
      const pipeline = await aPipeline(app, org, '[{command: a}]')
      await aBuild(app, org, pipeline)
      await sql`delete from pipelines where id = ${pipeline.id}`.execute(app.db)
      return pipeline.id
    },
    run: poller('delete_builds'),
    isDone: isGone('builds', 'pipeline_id'),
  },
  schedules: {
    table: 'pipeline_schedules',
    column: 'id',
    async make(org, admin) {
      const [{ id: pipelineId }, id] = [await aPipeline(app, org, '[{command: a}]'), newId()]
      await sql`
        insert into pipeline_schedules (id, organization_id, pipeline_id, cronline, branch, next_build_at, created_by)
        values (${id}, ${org.id}, ${pipelineId}, '@daily', 'main', now() - interval '1 hour', ${admin.id})`.execute(
        app.db,
      )
      return id
    },
    run: poller('fire_schedules'),
    isDone: (id) => finds(sql`select from pipeline_schedules where id = ${id} and next_build_at > now()`),
  },
  outbox: {
    table: 'notification_messages',
    column: 'organization_id',
    async make(org) {
      await aWebhook(org)
      await aBuild(app, org, await aPipeline(app, org, '[{command: a}]'))
      return org.id
    },
    run: (ctx) => relay(ctx, loadSnapshots(ctx.config.url)),
    isDone: (id) => finds(sql`select from notification_messages where organization_id = ${id}`),
  },
  polls: {
    table: 'pipeline_polls',
    column: 'pipeline_id',
    async make(org) {
      const id = await aPolledPipeline(org)
      await sql`
        insert into pipeline_polls (pipeline_id, organization_id, repository, next_poll_at)
        values (${id}, ${org.id}, 'https://git.example/r.git', now() - interval '1 hour')`.execute(app.db)
      return id
    },
    run: poller('enqueue_polls'),
    isDone: (id) => finds(sql`select from pipeline_polls where pipeline_id = ${id} and claim is not null`),
  },
  polls_changed: {
    table: 'pipeline_polls',
    column: 'pipeline_id',
    make: aPolledPipeline,
    run: poller('enqueue_polls'),
    isDone: (id) => finds(sql`select from pipeline_polls where pipeline_id = ${id}`),
  },
  logs: {
    table: 'job_logs',
    column: 'job_id',
    async make(org) {
      const build = await anOldBuild(app, org, await aPipeline(app, org, '[{command: a}]'), { daysAgo: 1 })
      const id = build.jobIds[0] ?? ''
      await sql`delete from job_logs where job_id = ${id}`.execute(app.db)
      await sql`
        insert into job_log_chunks (job_id, sequence, byte_offset, size, data) values (${id}, 1, 0, 2, 'a')`.execute(
        app.db,
      )
      return id
    },
    run: (ctx) => logCompactor()(ctx, new AbortController().signal),
    isDone: (id) =>
      finds(
        sql`select from job_logs where job_id = ${id} and compacting_until is not null or finished_at is not null`,
      ),
  },
  log_chunks: {
    table: 'job_log_chunks',
    column: 'job_id',
    async make() {
      const id = newId()
      await sql`
        insert into job_log_chunks (job_id, sequence, byte_offset, size, data) values (${id}, 1, 0, 1, 'a')`.execute(
        app.db,
      )
      return id
    },
    run: (ctx) => logCompactor()(ctx, new AbortController().signal),
    isDone: isGone('job_log_chunks', 'job_id'),
  },
  agents_expired: {
    ...expiring('agents', 'id', 'expire_agents', async () => {
      const id = await anIdleAgent()
      await sql`
        update agents set connection_state = 'lost', lost_at = now() - interval '20 days' where id = ${id}`.execute(
        app.db,
      )
      return id
    }),
  },
  commits: expiring('repository_commits', 'commit', 'expire_commits', async (org) => {
    const [{ id }, commit] = [
      await aPipeline(app, org, 'steps: [{ command: a }]'),
      randomBytes(20).toString('hex'),
    ]
    await sql`
      insert into repository_commits (pipeline_id, commit, organization_id, seen_at)
      values (${id}, ${commit}, ${org.id}, now() - interval '800 days')`.execute(app.db)
    return commit
  }),
  idempotency_keys: expiring('idempotency_keys', 'key', 'expire_idempotency_keys', async (_org, admin) => {
    const key = unique('key')
    await sql`
      insert into idempotency_keys (user_id, key, fingerprint, status, headers, created_at)
      values (${admin.id}, ${key}, '', 200, '{}', now() - interval '2 days')`.execute(app.db)
    return key
  }),
  rate_limits: expiring('rate_limits', 'key', 'expire_rate_limits', async () => {
    const key = unique('key')
    await sql`insert into rate_limits (key, expire) values (${key}, 1)`.execute(app.db)
    return key
  }),
  sessions: expiring('web_sessions', 'id', 'expire_sessions', async (_org, admin) => {
    const id = newId()
    await sql`
      insert into web_sessions (id, token_hash, created_at, expires_at, user_id, opened_with)
      values (${id}, ${bytes()}, now(), now() - interval '1 day', ${admin.id}, 'link')`.execute(app.db)
    return id
  }),
  oauth_codes: expiring('oauth_codes', 'code_hash', 'expire_sessions', async (_org, admin) => {
    const hash = bytes()
    await sql`
      insert into oauth_codes (code_hash, user_id, client_hash, redirect_uri, challenge, token_request, expires_at)
      values (${hash}, ${admin.id}, '', '', '', '{}', now() - interval '1 day')`.execute(app.db)
    return hex(hash)
  }),
  oauth_devices: expiring('oauth_devices', 'device_hash', 'expire_sessions', async () => {
    const hash = bytes()
    await sql`
      insert into oauth_devices (device_hash, user_code_hash, client_hash, program, scopes, ip, created_at, expires_at,
        interval_seconds)
      values (${hash}, ${hash}, '', '', '{}', '', now(), now() - interval '1 day', 5)`.execute(app.db)
    return hex(hash)
  }),
  exchanged_tokens: expiring('api_access_tokens', 'id', 'expire_sessions', async (org) => {
    const [account, issuer, token] = [newId(), newId(), newId()]
    await sql`
      insert into users (id, email, name, is_service_account) values (${account}, ${account}, '', true)`.execute(
      app.db,
    )
    await sql`
      insert into organization_members (organization_id, user_id, role) values (${org.id}, ${account}, 'member')`.execute(
      app.db,
    )
    await sql`insert into service_accounts (id, organization_id) values (${account}, ${org.id})`.execute(
      app.db,
    )
    await sql`
      insert into token_issuers (id, organization_id, service_account_id, issuer, audience, claims, scopes, most_minutes)
      values (${issuer}, ${org.id}, ${account}, '', '', '{}', '{}', 1)`.execute(app.db)
    await sql`
      insert into api_access_tokens (id, user_id, token_hash, scopes, expires_at, token_issuer_id)
      values (${token}, ${account}, ${bytes()}, '{}', now() - interval '2 days', ${issuer})`.execute(app.db)
    return token
  }),
  refresh_tokens: expiring('oauth_refresh_tokens', 'token_hash', 'expire_sessions', async (_org, admin) => {
    const hash = bytes()
    await sql`
      insert into oauth_refresh_tokens (token_hash, access_token_id, generation, created_at, expires_at)
      select ${hash}, id, 1, now(), now() - interval '1 day' from api_access_tokens where user_id = ${admin.id}
      limit 1`.execute(app.db)
    return hex(hash)
  }),
  sign_in_links: expiring('sign_in_links', 'code_hash', 'expire_sessions', async (_org, admin) => {
    const hash = bytes()
    await sql`
      insert into sign_in_links (code_hash, user_id, expires_at)
      values (${hash}, ${admin.id}, now() - interval '1 day')`.execute(app.db)
    return hex(hash)
  }),
  sso_starts: expiring('sso_starts', 'state_hash', 'expire_sessions', async (org) => {
    const hash = bytes()
    await sql`alter table sso_starts drop constraint if exists sso_starts_organization_id_fkey`.execute(
      app.db,
    )
    await sql`
      insert into sso_starts (state_hash, organization_id, browser_hash, nonce, verifier_sealed, verifier_key_id, expires_at)
      values (${hash}, ${org.id}, '', '', '', '', now() - interval '1 day')`.execute(app.db)
    return hex(hash)
  }),
  webhook_deliveries: expiring(
    'webhook_deliveries',
    'delivery_id',
    'expire_webhook_deliveries',
    async (org) => {
      const [{ id }, delivery] = [await aPipeline(app, org, 'steps: [{ command: a }]'), unique('delivery')]
      await sql`
      insert into webhook_deliveries (pipeline_id, delivery_id, organization_id, received_at)
      values (${id}, ${delivery}, ${org.id}, now() - interval '40 days')`.execute(app.db)
      return delivery
    },
  ),
  repository_pushes: expiring('repository_pushes', 'ref', 'expire_webhook_deliveries', async (org) => {
    const [{ id }, ref] = [await aPipeline(app, org, 'steps: [{ command: a }]'), unique('refs/heads/a')]
    await sql`
      insert into repository_pushes (pipeline_id, ref, number, organization_id, commit, found_by, seen_at, is_ordered)
      values (${id}, ${ref}, 1, ${org.id}, '', 'webhook', now() - interval '40 days', true)`.execute(app.db)
    return ref
  }),
  deliveries_expired: expiring('notification_deliveries', 'id', 'expire_deliveries', async (org) => {
    const [service, id] = [await aWebhook(org), newId()]
    await sql`
      insert into notification_deliveries (id, organization_id, message_id, service_id, owner_id, ordered_queue, state,
        give_up_at, created_at, finished_at)
      values (${id}, ${org.id}, ${newId()}, ${service}, ${service}, 'q', 'delivered', now(), now(), now() - interval '8 days')`.execute(
      app.db,
    )
    return id
  }),
  invitations: {
    table: 'organization_invitations',
    column: 'id',
    async make(org) {
      const id = newId()
      await sql`
        insert into organization_invitations (id, organization_id, email, role, sso_mode, expires_at)
        values (${id}, ${org.id}, ${`${unique('someone')}@example.com`}, 'member', 'optional', now() - interval '1 day')`.execute(
        app.db,
      )
      return id
    },
    run: (ctx) => handlers.expire_invitations(ctx, {}),
    isDone: (id) => finds(sql`select from organization_invitations where id = ${id} and state = 'expired'`),
  },
  secrets: {
    table: 'pipelines',
    column: 'id',
    async make(org) {
      const { id } = await aPipeline(app, org, 'steps: [{ command: a }]')
      await sql`update pipelines set webhook_token = ${unique('token')} where id = ${id}`.execute(app.db)
      return id
    },
    run: (ctx) => handlers.seal_plain_secrets(ctx, {}),
    isDone: (id) => finds(sql`select from pipelines where id = ${id} and webhook_token is null`),
  },
  caches_unused: {
    table: 'step_caches',
    column: 'id',
    async make(org) {
      const [{ id: pipelineId }, id] = [await aPipeline(app, org, 'steps: [{ command: a }]'), newId()]
      await sql`
        insert into step_caches (id, organization_id, pipeline_id, name, branch, platform, paths, paths_hash, file_count,
          size_bytes, stored_bytes, job_id, saved_at, used_at)
        values (${id}, ${org.id}, ${pipelineId}, 'c', 'main', 'p', '{}', ${bytes()}, 1, 1, 1, ${newId()}, now(),
          now() - interval '400 days')`.execute(app.db)
      return id
    },
    run: poller('expire_caches'),
    isDone: isGone('step_caches', 'id'),
  },
  caches_over_limit: {
    table: 'step_caches',
    column: 'id',
    async make(org) {
      const [blobId, id] = [await aCacheBlob(org, null), newId()]
      await sql`update step_cache_blobs set stored_bytes = 30e9 where id = ${blobId}`.execute(app.db)
      await sql`
        insert into step_caches (id, organization_id, pipeline_id, name, branch, platform, paths, paths_hash, file_count,
          size_bytes, stored_bytes, job_id, saved_at, used_at)
        select ${id}, organization_id, pipeline_id, 'c', 'main', 'p', '{}', ${bytes()}, 1, 1, stored_bytes, ${newId()},
          now(), now() from step_cache_blobs where id = ${blobId}`.execute(app.db)
      await sql`
        insert into step_cache_refs (organization_id, cache_id, position, blob_id) values (${org.id}, ${id}, 0, ${blobId})`.execute(
        app.db,
      )
      return id
    },
    run: poller('expire_caches'),
    isDone: isGone('step_caches', 'id'),
  },
  cache_blobs_unused: {
    table: 'step_cache_blobs',
    column: 'id',
    make: (org) => aCacheBlob(org, null),
    run: poller('expire_caches'),
    isDone: (id) => finds(sql`select from step_cache_blobs where id = ${id} and unused_at is not null`),
  },
  cache_blobs_expired: {
    table: 'step_cache_blobs',
    column: 'id',
    make: (org) => aCacheBlob(org, '2020-01-01'),
    run: poller('expire_caches'),
    isDone: isGone('step_cache_blobs', 'id'),
  },
  artifacts_missing: {
    table: 'artifacts',
    column: 'id',
    async make(org) {
      const [{ build }, id] = [await aJob(org), newId()]
      const jobId = await jobNamed(app, build, 'a')
      await sql`
        insert into artifacts (id, organization_id, build_id, job_id, batch_id, batch_index, path, file_size, sha1sum,
          mime_type, created_at)
        values (${id}, ${org.id}, ${build.id}, ${jobId}, ${newId()}, 0, 'a', 1, '', '', now() - interval '3 days')`.execute(
        app.db,
      )
      return id
    },
    run: poller('fail_missing_artifacts'),
    isDone: (id) => finds(sql`select from artifacts where id = ${id} and state = 'error'`),
  },
  blobs: {
    table: 'unclaimed_blobs',
    column: 'key',
    async make() {
      const key = `artifacts/${unique('blob')}`
      await sql`insert into unclaimed_blobs (key, delete_after) values (${key}, now() - interval '1 day')`.execute(
        app.db,
      )
      return key
    },
    run: poller('delete_unused_blobs'),
    isDone: isGone('unclaimed_blobs', 'key'),
  },
  retention: {
    table: 'builds',
    column: 'pipeline_id',
    async make(org) {
      const pipeline = await aPipeline(app, org, '[{command: a}]')
      await anOldBuild(app, org, pipeline, { daysAgo: 30 })
      await sql`
        insert into organization_retention (organization_id, build_days, archive_builds, keep_newest_builds)
        values (${org.id}, 5, false, 0)`.execute(app.db)
      return pipeline.id
    },
    run: poller('retention'),
    isDone: isGone('builds', 'pipeline_id'),
  },
  agent_images: {
    table: 'agent_images',
    column: 'id',
    async make(org) {
      const [cluster, id] = [newId(), unique('image')]
      await sql`alter table agent_images drop constraint if exists agent_images_cluster_id_fkey`.execute(
        app.db,
      )
      await sql`
        insert into agent_images (id, organization_id, cluster_id, name, version, dockerfile, base_image, ref)
        values (${id}, ${org.id}, ${cluster}, ${id}, 1, '', '', ${id})`.execute(app.db)
      return id
    },
    run: (ctx) => leaseBuilds(ctx, { most: 100, seconds: 30 }),
    isDone: (id) => finds(sql`select from agent_images where id = ${id} and build_lease_id is not null`),
  },
  agent_images_lost: {
    table: 'agent_images',
    column: 'id',
    async make(org) {
      const id = unique('image')
      await sql`alter table agent_images drop constraint if exists agent_images_cluster_id_fkey`.execute(
        app.db,
      )
      await sql`
        insert into agent_images (id, organization_id, cluster_id, name, version, dockerfile, base_image, ref, status)
        values (${id}, ${org.id}, ${newId()}, ${id}, 1, '', '', ${id}, 'READY')`.execute(app.db)
      return id
    },
    run: onEngine('sweep_images'),
    isDone: (id) => finds(sql`select from agent_images where id = ${id} and status = 'BUILDING'`),
  },
  cache_volumes: {
    table: 'cache_volumes',
    column: 'id',
    make: (org) => aDetachedVolume(org, '2020-01-01'),
    run: onEngine('expire_cache_volumes'),
    isDone: isGone('cache_volumes', 'id'),
  },
  hosted_volumes: {
    table: 'cache_volumes',
    column: 'id',
    make: (org) => aDetachedVolume(org, 'now'),
    run: onEngine('reconcile_hosted'),
    isDone: isGone('cache_volumes', 'id'),
  },
  deliveries: {
    table: 'notification_deliveries',
    column: 'organization_id',
    async make(org) {
      await aWebhook(org)
      await aBuild(app, org, await aPipeline(app, org, '[{command: a}]'))
      await eventually('it is relayed', async () => {
        await relay(app.ctx, loadSnapshots(app.ctx.config.url))
        return finds(sql`select from notification_deliveries where organization_id = ${org.id}`)
      })
      return org.id
    },
    async run(ctx) {
      await sql`update notification_queues set leased_until = null`.execute(app.db)
      const recorder = startRecorder(ctx)
      const free = { shared: 100, perRecipient: 16, shares: new Map(), held: [] }
      const queues = await claimQueues(ctx.db, ctx.now(), free)
      const pending = await listPending(ctx.db, openMessageCache(ctx.db), queues, 10)
      const startedAt = ctx.now().toISOString()
      const result = {
        startedAt,
        durationMs: 1,
        error: null,
        isFinal: false,
        exchanges: [],
        stateChanges: new Map(),
      }
      await Promise.allSettled(
        pending.map((one) =>
          recorder.record({ pending: one, result, verdict: { kind: 'delivered' }, lease: 'released' }),
        ),
      )
    },
    isDone: async (id) =>
      !(await finds(
        sql`select from notification_deliveries where organization_id = ${id} and state = 'pending'`,
      )),
    seconds: 1,
  },
  token_use: {
    table: 'api_access_tokens',
    column: 'id',
    make: async (_org, admin) => {
      const id = await tokenId(app, admin.token)
      await sql`update api_access_tokens set last_used_ip = null, last_used_at = null where id = ${id}`.execute(
        app.db,
      )
      return id
    },
    async run(ctx) {
      const uses = trackTokenUse(ctx, () => {})
      const { rows } = await sql<{
        id: string
      }>`select id from api_access_tokens where last_used_ip is null`.execute(app.db)
      for (const { id } of rows) uses.record(id, '192.0.2.1')
      await uses.flush()
    },
    isDone: (id) => finds(sql`select from api_access_tokens where id = ${id} and last_used_ip = '192.0.2.1'`),
  },
  tokens_inactive: {
    table: 'api_access_tokens',
    column: 'id',
    async make(org, admin) {
      const id = await tokenId(app, admin.token)
      await sql`update organizations set revoke_inactive_tokens_after_days = 30 where id = ${org.id}`.execute(
        app.db,
      )
      await sql`
        update api_access_tokens set created_at = now() - interval '40 days', last_used_at = now() - interval '40 days'
        where id = ${id}`.execute(app.db)
      return id
    },
    run: (ctx) => handlers.revoke_inactive_tokens(ctx, {}),
    isDone: (id) => finds(sql`select from api_access_tokens where id = ${id} and revoked_at is not null`),
  },
  session_use: {
    table: 'web_sessions',
    column: 'id',
    async make(_org, admin) {
      const id = newId()
      await sql`
        insert into web_sessions (id, token_hash, created_at, expires_at, user_id, opened_with)
        values (${id}, ${bytes()}, now(), now() + interval '1 day', ${admin.id}, 'link')`.execute(app.db)
      return id
    },
    async run(ctx) {
      const uses = trackSessionUse(ctx, () => {})
      const { rows } = await sql<{
        id: string
      }>`select id from web_sessions where last_used_ip is null`.execute(app.db)
      for (const { id } of rows) uses.record(id, '192.0.2.1')
      await uses.flush()
    },
    isDone: (id) => finds(sql`select from web_sessions where id = ${id} and last_used_ip = '192.0.2.1'`),
  },
  retention_of_tests: {
    table: 'test_runs',
    column: 'organization_id',
    async make(org) {
      const suite = newId()
      await sql`
        insert into test_suites (id, organization_id, name, slug, token_hash)
        values (${suite}, ${org.id}, 's', 's', ${bytes()})`.execute(app.db)
      await sql`
        insert into test_runs (id, organization_id, suite_id, key, created_at, updated_at)
        values (${newId()}, ${org.id}, ${suite}, 'k', '2020-01-01', '2020-01-01')`.execute(app.db)
      await sql`insert into organization_retention (organization_id, build_days) values (${org.id}, 5)`.execute(
        app.db,
      )
      return org.id
    },
    run: poller('retention'),
    isDone: isGone('test_runs', 'organization_id'),
  },
  job_ends: {
    table: 'job_ends',
    column: 'organization_id',
    async make(org) {
      await sql`
        insert into job_ends (organization_id, job_id, build_id, pipeline_id, step, ended_at, has_failed, is_retry, price_micros)
        values (${org.id}, ${newId()}, ${newId()}, ${newId()}, 'a', now(), false, false, 0)`.execute(app.db)
      return org.id
    },
    run: poller('fold_job_ends'),
    isDone: isGone('job_ends', 'organization_id'),
  },
  budgets: {
    table: 'budgets',
    column: 'id',
    async make(org) {
      const { id: pipeline } = await aPipeline(app, org, 'steps: [{ command: a }]')
      const id = newId()
      await sql`
        insert into budgets (id, organization_id, pipeline_id, amount_micros)
        values (${id}, ${org.id}, ${pipeline}, 1000000)`.execute(app.db)
      await sql`
        insert into insight_days (organization_id, dimension, starts_at, pipeline_id, queue_id, subject_id, jobs, failures, retries,
          run_ms, cost_micros, waits, runs)
        values (${org.id}, 'queue', date_trunc('day', now(), 'UTC'), ${pipeline}, ${newId()}, ${newId()}, 1, 0, 0, 1, 1000000, '{}',
          '{}')`.execute(app.db)
      return id
    },
    run: (ctx) => handlers.check_budgets(ctx, {}),
    isDone: (id) => finds(sql`select from budgets where id = ${id} and noticed_percent = 100`),
  },
  test_labels: {
    table: 'test_suites',
    column: 'id',
    async make(org) {
      const suite = newId()
      await sql`
        insert into test_suites (id, organization_id, name, slug, token_hash, labels_checked_at)
        values (${suite}, ${org.id}, 'l', 'l', ${bytes()}, '2020-01-01')`.execute(app.db)
      await sql`
        insert into test_runs (id, organization_id, suite_id, key, created_at, updated_at)
        values (${newId()}, ${org.id}, ${suite}, 'k', '2020-01-01', '2020-01-01')`.execute(app.db)
      return suite
    },
    run: (ctx) => handlers.label_tests(ctx, {}),
    isDone: (id) => finds(sql`select from test_suites where id = ${id} and labels_checked_at > '2020-01-01'`),
  },
  queue_estimates: {
    table: 'job_estimates',
    column: 'queue_id',
    async make() {
      const { org, queue, token } = await anAgentWorld(app)
      await anAgent(app, token)
      await aJob(org)
      // New at all times of the scene.
      await sql`update jobs set runnable_at = '2100-01-01' where queue_id = ${queue.id}`.execute(app.db)
      return queue.id
    },
    run: poller('remember_estimates'),
    isDone: (id) => finds(sql`select from job_estimates where queue_id = ${id}`),
  },
  test_owners: {
    table: 'test_suites',
    column: 'id',
    async make(org) {
      const suite = newId()
      await sql`
        insert into test_suites (id, organization_id, name, slug, token_hash, owners_checked_at)
        values (${suite}, ${org.id}, 'o', 'o', ${bytes()}, '2020-01-01')`.execute(app.db)
      await sql`
        insert into test_runs (id, organization_id, suite_id, key, created_at, updated_at)
        values (${newId()}, ${org.id}, ${suite}, 'k', '2020-01-01', '2020-01-01')`.execute(app.db)
      return suite
    },
    run: (ctx) => handlers.set_test_owners(ctx, {}),
    isDone: (id) => finds(sql`select from test_suites where id = ${id} and owners_checked_at > '2020-01-01'`),
  },
  quarantines: {
    table: 'tests',
    column: 'suite_id',
    async make(org) {
      const suite = newId()
      await sql`
        insert into test_suites (id, organization_id, name, slug, token_hash)
        values (${suite}, ${org.id}, 'q', 'q', ${bytes()})`.execute(app.db)
      await sql`
        insert into tests (organization_id, suite_id, id, scope, name, first_seen_at, last_seen_at, state, quarantine_expires_at)
        values (${org.id}, ${suite}, ${newId()}, '', 'n', now(), now(), 'muted', '2020-01-01')`.execute(
        app.db,
      )
      return suite
    },
    run: (ctx) => handlers.end_quarantines(ctx, {}),
    isDone: (id) => finds(sql`select from tests where suite_id = ${id} and state = 'enabled'`),
  },
  tests: {
    table: 'tests',
    column: 'suite_id',
    async make(org) {
      const suite = newId()
      await sql`
        insert into test_suites (id, organization_id, name, slug, token_hash)
        values (${suite}, ${org.id}, 's', 's', ${bytes()})`.execute(app.db)
      await sql`
        insert into tests (organization_id, suite_id, id, scope, name, first_seen_at, last_seen_at)
        values (${org.id}, ${suite}, ${newId()}, '', 'n', '2020-01-01', '2020-01-01')`.execute(app.db)
      return suite
    },
    run: (ctx) => handlers.expire_tests(ctx, {}),
    isDone: isGone('tests', 'suite_id'),
  },
}

/** Loops whose row is an object of a container engine, or that need one to run: no trigger makes one of them fail. */
const withoutScene = {
  agent_images_stuck: 'engine',
  commit_statuses: 'shown in commit-statuses.test.ts',
  hosted_agents_due: 'engine',
  hosted_agents_ended: 'engine',
  hosted_containers: 'engine',
  hosted_jobs: 'engine',
  hosted_jobs_refused: 'engine',
  hosted_jobs_waiting: 'engine',
  hosted_queues_warm: 'engine',
  mirrors: 'engine',
  shared_volumes: 'engine',
  status_reports: 'requests to a host',
} as const satisfies Partial<Record<Loop, string>>

async function poison({ table, column }: Scene, value: string): Promise<{ cure(): Promise<void> }> {
  await sql`
    create or replace function raise_for_row() returns trigger language plpgsql as $$
    declare found jsonb := case when tg_op = 'DELETE' then to_jsonb(old) else to_jsonb(new) end;
    begin
      if found ->> tg_argv[0] = tg_argv[1] then raise exception 'poisoned'; end if;
      return case when tg_op = 'DELETE' then old else new end;
    end $$`.execute(app.db)
  const cure = async () =>
    void (await sql`drop trigger if exists a_poison on ${sql.table(table)}`.execute(app.db))
  onTestFinished(cure)
  await sql`
    create trigger a_poison before insert or update or delete on ${sql.table(table)} for each row
    execute function raise_for_row(${sql.lit(column)}, ${sql.lit(value)})`.execute(app.db)
  return { cure }
}

const failedIn = async (loop: Loop) => {
  const { rows } = await sql<{ attempts: number; error: string; seconds: number }>`
    select attempts, error, extract(epoch from next_try_at - last_failed_at)::float8 as seconds from failed_rows
    where loop = ${loop} and attempts > 0 order by row_id`.execute(app.db)
  return rows
}

describe('a row that always fails', () => {
  it.each(Object.entries(scenes) as [Loop, Scene][])('stops no other: %s', async (loop, scene) => {
    const values: string[] = []
    for (const _ of [1, 2, 3]) {
      const org = await anOrganization(app)
      values.push(await scene.make(org, await anAdmin(app, org)))
    }
    const [bad = '', ...others] = values
    const { cure } = await poison(scene, bad)
    const begunAt = Date.now() + (scene.seconds ?? 0) * 1000
    const runAfter = (seconds: number) =>
      scene.run({ ...app.ctx, now: () => new Date(begunAt + seconds * 1000) })
    const areDone = async (some: readonly string[]) =>
      (await Promise.all(some.map(scene.isDone))).every(Boolean)

    // Readers of the outbox wait for transactions of PostgreSQL itself that happen to be open.
    await eventually('the others advance', async () => {
      await runAfter(0)
      return areDone(others)
    })
    expect(await scene.isDone(bad)).toBe(false)
    const first = await eventually('it is remembered', async () => {
      await runAfter(0)
      const failed = await failedIn(loop)
      return failed.length > 0 && failed
    })
    for (const { attempts, error } of first)
      expect({ attempts, error }).toEqual({ attempts: 1, error: 'poisoned' })
    await runAfter(1)
    expect(await failedIn(loop)).toEqual(first)
    await runAfter(6)
    const second = await failedIn(loop)
    expect(second.map(({ attempts }) => attempts)).toContain(2)
    expect(Math.max(...second.map(({ seconds }) => seconds))).toBeGreaterThan(first[0]?.seconds ?? Infinity)
    expect(app.logLines.join('')).toContain('A row could not be handled.')

    await cure()
    for (const seconds of [20, 60, 120, 240]) await runAfter(seconds)
    expect(await areDone(values)).toBe(true)
    expect(await failedIn(loop)).toEqual([])
  })
})

describe('the loops of the background', () => {
  const all = Object.keys(loops).sort()

  it('are those that pollers, tasks and others run', () => {
    const known = [
      ...Object.values(pollers).map(({ rows }) => rows),
      ...Object.values(rowsOfTasks),
      ...Object.values(rowsElsewhere),
    ]
    const run = known.flatMap((rows) => (typeof rows === 'string' ? [] : rows))
    expect([...new Set(run)].sort()).toEqual(all)
  })

  it('all have a scene here, or a reason why not', () => {
    expect([...Object.keys(scenes), ...Object.keys(withoutScene)].sort()).toEqual(all)
  })

  it('go through the helper: files of background work await nothing in a loop of their own', () => {
    const found = backgroundFiles().flatMap((file) => {
      const lines = readFileSync(new URL(file, import.meta.url), 'utf8').split('\n')
      return lines.flatMap((line, n) =>
        /^\s*(else )?for \(.* of /.test(line) && bodyOf(lines, n).includes('await ')
          ? [`${file}: ${line.trim()}`]
          : [],
      )
    })
    expect(found.sort()).toEqual(ownLoops)
  })
})

/** The files that worker.ts imports values from, those of loops beside it, and those of hosted agents. */
function backgroundFiles(): string[] {
  const text = readFileSync(new URL('worker.ts', import.meta.url), 'utf8')
  const imported = [...text.matchAll(/^import (?!type)[^']*'\.\/([^']*\.ts)'/gms)].map(
    ([, file = '']) => file,
  )
  const hosted = readdirSync(fileURLToPath(new URL('hosted-agents', import.meta.url)))
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => `hosted-agents/${name}`)
  return [...new Set([...imported, ...hosted, ...Object.keys(rowsElsewhere)])].sort()
}

/** The lines of a loop, by its indentation. */
function bodyOf(lines: readonly string[], from: number): string {
  const indent = (line: string) => /^ */.exec(line)?.[0].length ?? 0
  const end = lines.findIndex(
    (line, n) => n > from && line.trim() !== '' && indent(line) <= indent(lines[from] ?? ''),
  )
  return lines.slice(from, end < 0 ? undefined : end).join('\n')
}

/** Loops over rows of one organization, over one object, or over nothing but steps of the work. */
const ownLoops: string[] = [
  'conductor/delete-builds.ts: for (const agentId of new Set(rows.flatMap(({ agent_id }) => agent_id ?? []))) await wakeAgent(trx, agentId)',
  'conductor/lost-agents.ts: for (const { id } of rows) await wakeAgent(ctx.db, id)',
  'db/partitions.ts: for (const partition of expired) {',
  'db/partitions.ts: for (const table of Object.keys(partitionedTables) as PartitionedName[]) {',
  'hosted-agents/cache-volumes.ts: for (const volume of own) {',
  'hosted-agents/control-loop.ts: for (const agent of await hosted.claim(ctx.db, ids, state, lease))',
  "hosted-agents/control-loop.ts: for (const state of ['stopping', 'starting'] as const) {",
  'hosted-agents/mirrors.ts: for (const mirror of rows) await startUpdate(ctx, driver, config.hosted, mirror)',
  'hosted-agents/mirrors.ts: for (const { id, due_at: runAt } of rows) await enqueueUpdate(trx, id, runAt)',
  'hosted-agents/plan.ts: for (const volume of volumesOf(job)) await volumes.insertOwn(this.trx, { ...ids, ...volume })',
  'hosted-agents/reconcile.ts: for (const { organization_id } of rows)',
  'hosted-agents/start.ts: for (const job of rows) await failJob(ctx, { ...job, organization_id, reason })',
  'hosted-agents/start.ts: for (const volume of own) await attachVolume(ctx, driver, volume)',
  'notifications/delivery/deliverer.ts: for (const [n, delivery] of pending.entries()) {',
  'resources/builds/commit-statuses/report.ts: for (const pullRequest of status.pull_requests) {',
  'resources/builds/commit-statuses/update-statuses.ts: else for (const id of ids) await update(id)',
  'resources/builds/log/ingest/compact.ts: for (const stored of keys) {',
  'resources/builds/retention/run.ts: for (const pipeline of await listDuePipelines(work.db, scope, terms)) {',
  'resources/builds/retention/run.ts: for (const step of steps) {',
  'resources/insights/budgets/check.ts: for (const share of reached) {',
  'resources/insights/insights/expire.ts: for (const unit of Object.keys(rollups) as Unit[]) {',
  'resources/notifications/services/load-snapshots.ts: for (const row of rows) shown.set(row.id, await presentPipeline(url, row.organization_slug, row, null))',
  'resources/notifications/services/load-snapshots.ts: for (const { orgId, buildId } of builds) {',
  'resources/people/access-token/revoke-inactive.ts: for (const organizationId of token.lost) {',
  'resources/pipelines/pipelines/seal-plain.ts: for (const { id, organization_id: orgId, repository, webhook_token: token } of rows) {',
  'resources/tests/tests/quarantine.ts: for (const test of rows)',
  'resources/tests/tests/set-owners.ts: for (const checkout of await listCheckouts(ctx.db, suite)) {',
  'resources/tests/tests/set-owners.ts: for (const suite of suites) {',
  'webhooks/poll.ts: for (const move of found.moved.slice(0, mostMoves)) {',
]
