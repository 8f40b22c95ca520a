// Yardstick: the bare HTTP framework with a constant response of the same size.
import fastify from 'fastify'
import { send } from '../../../testbed/dist/children.js'

const app = fastify()
const body = process.env['BODY'] ?? ''
app.get('/', (_request, reply) => {
  void reply.type('application/json; charset=utf-8').send(body)
})
send(await app.listen({ host: '127.0.0.1', port: 0 }))
