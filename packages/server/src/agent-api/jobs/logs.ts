// Chunks of a job's log. Agents never resend a chunk answered with 4xx, so we store what can be stored, also for a while
// after the job has ended. A chunk that comes later is refused, because a 200 says that it is kept.
import { HeaderTimesRequest } from '@millrace/protocol/logs.ts'
import { badRequest, refused } from '../../lib/errors.ts'
import * as logs from '../../resources/builds/log/queries.ts'
import { mostChunkBytes, receiveChunk } from '../../resources/builds/log/ingest/receive.ts'
import { nanoseconds } from '../../resources/builds/log/header-times.ts'
import { agentRoute, done, lastOf } from '../route.ts'

const sendChunk = agentRoute({
  method: 'POST',
  url: '/v3/jobs/:job/chunks',
  token: 'ended_job',
  forks: 'own_job',
  bodyLimitBytes: mostChunkBytes,
  async handler({ ctx, job, query, request }) {
    const isStored = await receiveChunk(ctx, job.organizationId, job.id, {
      sequence: readNumber('sequence', lastOf(query['sequence']), 2 ** 31 - 1),
      offset: readNumber('offset', lastOf(query['offset']), 2 ** 50),
      body: request.body,
      isGzip: /\bgzip\b/i.test(request.headers['content-encoding'] ?? ''),
    })
    if (!isStored) throw refused('The job has ended too long ago: its log is closed.')
    return done()
  },
})

const sendHeaderTimes = agentRoute({
  method: 'POST',
  url: '/v3/jobs/:job/header_times',
  token: 'ended_job',
  forks: 'own_job',
  body: HeaderTimesRequest,
  async handler({ ctx, job, body }) {
    const times = Object.entries(body.header_times).filter(
      (entry): entry is [string, string] =>
        /^\d{1,4}$/.test(entry[0]) && typeof entry[1] === 'string' && nanoseconds(entry[1]) !== null,
    )
    await logs.mergeHeaderTimes(ctx.db, job.organizationId, job.id, Object.fromEntries(times))
    return done()
  },
})

function readNumber(name: string, text: string | undefined, most: number): number {
  const value = /^\d{1,16}$/.test(text ?? '') ? Number(text) : -1
  if (value < 0 || value > most)
    throw badRequest(`The query must have ${name}, a whole number up to ${most}.`)
  return value
}

export const logApi = [sendChunk, sendHeaderTimes]
