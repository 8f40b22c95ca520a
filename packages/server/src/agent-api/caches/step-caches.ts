// The cache of a job's step, for agents without cache volumes; and those with a key, which commands of jobs save and restore.
import {
  StepCacheDamageRequest,
  StepCacheRestoreRequest,
  StepCacheSaveRequest,
  StepCacheUploadsRequest,
} from '@millrace/protocol/step-caches.ts'
import { ok } from '../../http/answer.ts'
import { reportDamage } from '../../resources/pipelines/caches/report-damage.ts'
import { restoreCache } from '../../resources/pipelines/caches/restore.ts'
import { announceBlobs, saveCache } from '../../resources/pipelines/caches/save.ts'
import { agentRoute, done } from '../route.ts'

/** For lists of blobs. */
const large = { bodyLimitBytes: 4 * 1024 * 1024, mostValues: 100_000 }

const restore = agentRoute({
  method: 'POST',
  url: '/v3/jobs/:job/cache/restore',
  token: 'job',
  forks: 'reads_shared',
  body: StepCacheRestoreRequest,
  handler: async ({ ctx, job, body }) => ok(await restoreCache(ctx, job, body)),
})

const announce = agentRoute({
  method: 'POST',
  url: '/v3/jobs/:job/cache/uploads',
  token: 'job',
  forks: { refused: 'cache to write to' },
  ...large,
  body: StepCacheUploadsRequest,
  handler: async ({ ctx, job, body }) => ok(await announceBlobs(ctx, job, body)),
})

const save = agentRoute({
  method: 'PUT',
  url: '/v3/jobs/:job/cache',
  token: 'job',
  forks: { refused: 'cache to write to' },
  ...large,
  body: StepCacheSaveRequest,
  handler: async ({ ctx, job, body }) => ok(await saveCache(ctx, job, body)),
})

const damage = agentRoute({
  method: 'POST',
  url: '/v3/jobs/:job/cache/damage',
  token: 'job',
  forks: { refused: 'cache to write to' },
  body: StepCacheDamageRequest,
  async handler({ ctx, job, body }) {
    await reportDamage(ctx, job, body.digest)
    return done()
  },
})

export const stepCacheApi = [restore, announce, save, damage]
