// Sends and receives the blobs of caches, where the store cannot sign URLs. A ticket in the URL authorizes each request.
import type { FastifyRequest } from 'fastify'
import { SizeMismatch } from '../../blobs/store.ts'
import type { Context } from '../../context.ts'
import { sendAnswer } from '../../http/answer.ts'
import type { Endpoint } from '../../http/endpoint.ts'
import { holdAgentRequest } from '../../http/limits/agent-requests.ts'
import { untilGone } from '../../http/limits/gone.ts'
import { allowSlowBody } from '../../http/slow-bodies.ts'
import { badRequest, notFound } from '../../lib/errors.ts'
import type { Owner } from '../../lib/holdings.ts'
import { isUuid } from '../../lib/ids.ts'
import { checkTicket } from '../../auth/tickets.ts'
import { blobKey } from '../../resources/pipelines/caches/urls.ts'
import { limitSilence } from '../uploads.ts'

const url = '/v3/caches/:organization/:pipeline/:blob'

export const cacheBlobEndpoints = (ctx: Context): Endpoint[] => [
  {
    methods: ['GET'],
    url,
    body: 'bytes',
    async handle(request, reply) {
      const { key, query } = readRequest(request)
      checkTicket(ctx, 'cache read', key, query.get('ticket') ?? undefined)
      holdAgentRequest(ctx, senderOf(request), untilGone(request))
      const stream = await ctx.blobs.get(key)
      if (stream === null) throw notFound('No blob found')
      const headers = { 'Content-Type': 'application/octet-stream', 'Cache-Control': 'private, no-store' }
      return sendAnswer(reply, { status: 200, stream, headers })
    },
  },
  {
    methods: ['PUT'],
    url,
    body: 'stream',
    async handle(request, reply) {
      await limitSilence(request, reply, () => receiveBlob(ctx, request))
      return {}
    },
  },
]

async function receiveBlob(ctx: Context, request: FastifyRequest): Promise<void> {
  const { key, query } = readRequest(request)
  const most = query.get('most') ?? ''
  checkTicket(ctx, 'cache write', `${key} ${most}`, query.get('ticket') ?? undefined)
  allowSlowBody(request, senderOf(request))
  const size = Number(request.headers['content-length'] ?? NaN)
  if (!(size >= 0 && size <= Number(most))) {
    throw badRequest(`Say how long the blob is, with Content-Length; at most ${most} bytes.`)
  }
  try {
    await ctx.blobs.put(key, request.raw, size)
  } catch (error) {
    throw error instanceof SizeMismatch ? badRequest(error.message) : error
  }
}

function senderOf({ params }: FastifyRequest): Owner {
  const { organization = '', pipeline = '' } = params as Record<string, string>
  return { organizationId: organization.toLowerCase(), sender: pipeline.toLowerCase() }
}

function readRequest(request: FastifyRequest): { key: string; query: URLSearchParams } {
  const { organization, pipeline, blob } = request.params as Record<string, string>
  const ids = [organization, pipeline, blob].map((id) => (id ?? '').toLowerCase())
  if (!ids.every(isUuid)) throw notFound('No blob found')
  const [org = '', pipelineId = '', id = ''] = ids
  return { key: blobKey(org, pipelineId, id), query: new URL(request.url, 'http://server').searchParams }
}
