// Takes in the bytes of artifacts, at the addresses that agents were given for them. What authorizes is the ticket in
// the form or the address; bodies are read as they come in, never held whole.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../context.ts'
import { allowSlowBody } from '../http/slow-bodies.ts'
import { badRequest } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import { readForm } from '../resources/artifacts/form.ts'
import { checkTicket } from '../resources/artifacts/tickets.ts'
import { receiveFile, receivePart } from '../resources/artifacts/upload.ts'

/** A sender that is silent for so long is gone. */
const silenceMs = 60_000

export async function registerUploads(app: FastifyInstance, ctx: Context): Promise<void> {
  await app.register(async (corner) => {
    corner.removeAllContentTypeParsers()
    corner.addContentTypeParser('*', (_request, _body, done) => done(null))
    corner.post('/v3/uploads', async (request, reply) => {
      await whileHeard(request, reply, () => takeForm(ctx, request))
      return {}
    })
    corner.put('/v3/uploads/:artifact/parts/:part', async (request, reply) => {
      const etag = await whileHeard(request, reply, () => takePart(ctx, request))
      void reply.header('ETag', etag)
      return {}
    })
  })
}

async function takeForm(ctx: Context, request: FastifyRequest): Promise<void> {
  const { fields, file } = await readForm(request.headers['content-type'], request.raw)
  const id = fields.get('artifact_id') ?? ''
  checkTicket(ctx, 'upload', id, fields.get('ticket'))
  allowSlowBody(request)
  await receiveFile(ctx, id, file)
}

async function takePart(ctx: Context, request: FastifyRequest): Promise<string> {
  const { artifact, part } = request.params as { artifact: string; part: string }
  const { ticket } = request.query as { ticket?: string | string[] }
  checkTicket(ctx, 'part', `${artifact} ${part}`, [ticket].flat().at(-1))
  allowSlowBody(request)
  if (!isUuid(artifact)) throw badRequest('The address names no artifact.')
  return receivePart(
    ctx,
    artifact,
    Number(part),
    request.raw,
    Number(request.headers['content-length'] ?? NaN),
  )
}

/** An upload that is refused is not read any further: the connection ends with the answer. */
async function whileHeard<T>(
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
