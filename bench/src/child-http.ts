// Yardstick: the bare HTTP framework answering a constant of the same size as the real answer.
import fastify from 'fastify'
import { tell } from './children.ts'

const app = fastify()
const body = process.env['BODY'] ?? ''
app.get('/', (_request, reply) => {
  void reply.type('application/json; charset=utf-8').send(body)
})
tell(await app.listen({ host: '127.0.0.1', port: 0 }))
