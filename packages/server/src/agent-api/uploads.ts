// Receives the files of artifacts, at the URLs that agents were given for them. A ticket in the form or in the URL
// authorizes an upload. Bodies are streamed, never held whole.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../context.ts'
import type { Endpoint } from '../http/endpoint.ts'
import { allowSlowBody } from '../http/slow-bodies.ts'
import { badRequest } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import { readForm } from '../resources/builds/artifacts/form.ts'
import { checkTicket } from '../auth/tickets.ts'
import { getUploadable, receiveFile, receivePart } from '../resources/builds/artifacts/upload.ts'

/** A sender that sends nothing for this long is disconnected. */
const silenceMs = 60_000

export const uploadEndpoints = (ctx: Context): Endpoint[] => [
  {
    methods: ['POST'],
    url: '/v3/uploads',
    body: 'stream',
    async handle(request, reply) {
      await limitSilence(request, reply, () => receiveForm(ctx, request))
      return {}
    },
  },
  {
    methods: ['PUT'],
    url: '/v3/uploads/:artifact/parts/:part',
    body: 'stream',
    async handle(request, reply) {
      const etag = await limitSilence(request, reply, () => receiveFilePart(ctx, request))
      void reply.header('ETag', etag)
      return {}
    },
  },
]

async function receiveForm(ctx: Context, request: FastifyRequest): Promise<void> {
  const { fields, file } = await readForm(request.headers['content-type'], request.raw)
  const id = fields.get('artifact_id') ?? ''
  checkTicket(ctx, 'upload', id, fields.get('ticket'))
  const artifact = await getUploadable(ctx, id)
  allowSlowBody(request, senderOf(artifact))
  await receiveFile(ctx, artifact, file)
}

async function receiveFilePart(ctx: Context, request: FastifyRequest): Promise<string> {
  const { artifact, part } = request.params as { artifact: string; part: string }
  const { ticket } = request.query as { ticket?: string | string[] }
  checkTicket(ctx, 'part', `${artifact} ${part}`, [ticket].flat().at(-1))
  if (!isUuid(artifact)) throw badRequest('The address names no artifact.')
  const announced = await getUploadable(ctx, artifact)
  allowSlowBody(request, senderOf(announced))
  return receivePart(
    ctx,
    announced,
    Number(part),
    request.raw,
    Number(request.headers['content-length'] ?? NaN),
  )
}

const senderOf = (artifact: { organization_id: string; job_id: string }) => ({
  organizationId: artifact.organization_id,
  sender: artifact.job_id,
})

/** The rest of a refused upload is not read: the connection closes after the response. */
export async function limitSilence<T>(
  request: FastifyRequest,
  reply: FastifyReply,
  work: () => Promise<T>,
): Promise<T> {
  const { socket } = request.raw
  const giveUp = () => request.raw.destroy(new Error('The sender fell silent.'))
  socket.setTimeout(silenceMs, giveUp)
  try {
    const result = await work()
    request.raw.resume()
    return result
  } catch (error) {
    void reply.header('Connection', 'close')
    throw error
  } finally {
    socket.setTimeout(0)
    socket.off('timeout', giveUp)
  }
}
