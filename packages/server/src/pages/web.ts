// The web interface: its assets, and its shell at every address of a page. The shell holds no data and is sent to anybody; the
// API decides what it can load.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Endpoint } from '../http/endpoint.ts'
import { pathOf } from '../http/query.ts'
import { notFound } from '../lib/errors.ts'
import { isPageAddress } from './addresses.ts'
import { chooseEncoding, shellHeaders, type Site } from './site.ts'

/** Clients of these paths are programs, even when they accept HTML. */
const programPaths =
  /^\/(v\d+|assets|deliver|badges|avatars|emojis|uploads|docs|downloads|metrics|healthz|readyz)(\/|$)/

/** A browser asks for a page, not a program for an answer of the API. */
export const wantsPage = ({ url, headers }: Pick<FastifyRequest, 'url' | 'headers'>): boolean =>
  headers.accept?.includes('text/html') === true && !programPaths.test(pathOf(url))

export const sendShell = (site: Site, request: FastifyRequest, reply: FastifyReply): FastifyReply =>
  reply
    .headers(shellHeaders)
    .code(isPageAddress(pathOf(request.url)) ? 200 : 404)
    .type('text/html; charset=utf-8')
    .send(site.shell)

export const assetEndpoint = (site: Site | null): Endpoint => ({
  methods: ['GET'],
  url: '/assets/:name',
  body: 'json',
  async handle(request, reply) {
    const { name } = request.params as { name: string }
    const asset = site?.assets.get(name)
    if (asset === undefined) throw notFound(`There is nothing at GET /assets/${name.slice(0, 200)}`)
    const encoding = chooseEncoding(asset, request.headers['accept-encoding'])
    void reply.headers({ 'Cache-Control': 'public, max-age=31536000, immutable', Vary: 'Accept-Encoding' })
    if (encoding !== 'identity') void reply.header('Content-Encoding', encoding)
    return reply.type(asset.type).send(asset.bytes[encoding])
  },
})
