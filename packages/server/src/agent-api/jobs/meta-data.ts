// Values that the jobs of a build share. A job sets those of its own build and reads those of its cluster's.
import { sql } from 'kysely'
import {
  MetaDataItem,
  MetaDataKeyRequest,
  MetaDataSetBatchRequest,
  type MetaDataExistsResponse,
  type MetaDataGetResponse,
  type MetaDataKeysResponse,
} from '@millrace/protocol/meta-data.ts'
import { setMetaData } from '../../conductor/meta-data.ts'
import type { Context } from '../../context.ts'
import { batch } from '../../db/batch.ts'
import { inTransaction } from '../../db/transaction.ts'
import { ok } from '../../http/answer.ts'
import { notFound, refused } from '../../lib/errors.ts'
import { commitKey, updateCommit } from './commit-details.ts'
import { readableBuild } from '../other-builds.ts'
import { agentRoute, done } from '../route.ts'
import type { RunningJob } from '../tokens.ts'

const mostValueBytes = 100 * 1024
/** A character of JSON may take six bytes for one of text. */
const bodyLimitBytes = 16 * 1024 * 1024

const set = agentRoute({
  method: 'POST',
  url: '/v3/jobs/:job/data/set',
  token: 'job',
  forks: 'own_build',
  reach: 'build',
  body: MetaDataItem,
  bodyLimitBytes,
  async handler({ ctx, job, body }) {
    await setItems(ctx, job, [body])
    return done()
  },
})

const setBatch = agentRoute({
  method: 'POST',
  url: '/v3/jobs/:job/data/set-batch',
  token: 'job',
  forks: 'own_build',
  reach: 'build',
  body: MetaDataSetBatchRequest,
  bodyLimitBytes,
  async handler({ ctx, job, body }) {
    await setItems(ctx, job, body.items)
    return done()
  },
})

/** All or none; the last value of a repeated key counts. */
async function setItems(ctx: Context, job: RunningJob, items: ReadonlyArray<MetaDataItem>): Promise<void> {
  for (const { key, value } of items) {
    if (key.startsWith('buildkite:') && key !== commitKey) {
      throw refused(`Keys that begin with buildkite: are not for jobs to set; ${key.slice(0, 100)} does.`)
    }
    if (Buffer.byteLength(value) > mostValueBytes) {
      throw refused(
        `A value may have at most ${mostValueBytes} bytes; that of ${key.slice(0, 100)} has more.`,
      )
    }
  }
  await inTransaction(ctx.db, async (trx) => {
    const values = Object.fromEntries(items.map(({ key, value }) => [key, value]))
    await batch(trx, setMetaData(job, values))
    const commit = values[commitKey]
    if (commit !== undefined) await updateCommit(trx, job, commit, ctx.now().toISOString())
  })
}

type Read = (ctx: Context, buildId: string, key: string) => Promise<unknown>

/** Two routes: for the job's own build, and for any build it may read. */
const readRoutes = (jobUrl: string, buildUrl: string, read: Read) => [
  agentRoute({
    method: 'POST',
    url: jobUrl,
    token: 'job',
    forks: 'own_build',
    reach: 'build',
    body: MetaDataKeyRequest,
    handler: async ({ ctx, job, body }) => ok(await read(ctx, job.buildId, body.key)),
  }),
  agentRoute({
    method: 'POST',
    url: buildUrl,
    token: 'job',
    forks: 'own_build',
    body: MetaDataKeyRequest,
    handler: async ({ ctx, job, params, body }) =>
      ok(await read(ctx, await readableBuild(ctx, job, params['build'], 'other'), body.key)),
  }),
]

const get = readRoutes('/v3/jobs/:job/data/get', '/v3/builds/:build/data/get', async (ctx, buildId, key) => {
  const value = await findValue(ctx, buildId, key)
  if (value === undefined) throw notFound('No meta-data found')
  const answer: MetaDataGetResponse = { key, value }
  return answer
})

const exists = readRoutes(
  '/v3/jobs/:job/data/exists',
  '/v3/builds/:build/data/exists',
  async (ctx, buildId, key) => {
    const answer: MetaDataExistsResponse = { exists: (await findValue(ctx, buildId, key)) !== undefined }
    return answer
  },
)

const jobKeys = agentRoute({
  method: 'POST',
  url: '/v3/jobs/:job/data/keys',
  token: 'job',
  forks: 'own_build',
  reach: 'build',
  handler: async ({ ctx, job }) => ok(await listKeys(ctx, job.buildId)),
})

const buildKeys = agentRoute({
  method: 'POST',
  url: '/v3/builds/:build/data/keys',
  token: 'job',
  forks: 'own_build',
  handler: async ({ ctx, job, params }) =>
    ok(await listKeys(ctx, await readableBuild(ctx, job, params['build'], 'other'))),
})

async function findValue(ctx: Context, buildId: string, key: string): Promise<string | undefined> {
  const { rows } = await sql<{ value: string }>`
    select value from build_meta_data where build_id = ${buildId} and key = ${key}`.execute(ctx.db)
  return rows[0]?.value
}

async function listKeys(ctx: Context, buildId: string): Promise<MetaDataKeysResponse> {
  const { rows } = await sql<{ key: string }>`
    select key from build_meta_data where build_id = ${buildId} order by key`.execute(ctx.db)
  return rows.map(({ key }) => key)
}

export const metaDataApi = [set, setBatch, ...get, ...exists, jobKeys, buildKeys]
