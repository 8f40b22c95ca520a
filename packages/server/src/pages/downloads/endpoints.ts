// GET /downloads/…: the agent of this server for other machines, with its checksum. Anybody may read it: it is the same for
// everybody, made once, and sent from memory.
import type { Endpoint } from '../../http/endpoint.ts'
import { notFound } from '../../lib/errors.ts'
import { packAgent, type Download } from './agent-package.ts'

/** For commands that do not name the version. */
const newest = 'millrace-agent.tgz'

export function downloadEndpoints(): Endpoint[] {
  let packing: Promise<Download> | null = null

  /** Made for the first request, because most servers never need it. */
  function find(): Promise<Download> {
    packing ??= packAgent().catch((error: unknown) => {
      packing = null
      throw error
    })
    return packing
  }

  return [
    {
      methods: ['GET'],
      url: '/downloads/:name',
      body: 'json',
      async handle(request, reply) {
        const { name } = request.params as { name: string }
        const agent = await find()
        void reply.header('Cache-Control', 'no-cache')
        if (name === 'SHA256SUMS') {
          const lines = [agent.name, newest].map((file) => `${agent.sha256}  ${file}\n`)
          return reply.type('text/plain; charset=utf-8').send(lines.join(''))
        }
        if (name !== agent.name && name !== newest)
          throw notFound(
            `There is nothing at GET /downloads/${name.slice(0, 200)}. GET /downloads/SHA256SUMS lists all.`,
          )
        const etag = `"${agent.sha256}"`
        void reply.header('ETag', etag)
        if (request.headers['if-none-match'] === etag) return reply.code(304).send()
        return reply.type('application/gzip').send(agent.bytes)
      },
    },
  ]
}
