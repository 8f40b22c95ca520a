// What no route takes: an unknown path is 404; a known one with a method it does not have is 405, and says which it has.
import type { FastifyReply, FastifyRequest } from 'fastify'
import findMyWay from 'find-my-way'
import type { Context } from '../context.ts'
import { ApiError, notFound } from '../lib/errors.ts'
import { countRequest } from './access.ts'
import { pathOf } from './query.ts'
import type { Route } from './route.ts'

declare module 'fastify' {
  interface FastifyInstance {
    noRoute: NoRoute
  }
}

/** The web pages lie above this folder, so they set what a browser is answered. */
interface NoRoute {
  /** null: not a browser. */
  answerBrowser: ((request: FastifyRequest, reply: FastifyReply) => FastifyReply | null) | null
}

/** How paths are read, by the server and here. */
export const routerOptions = { ignoreTrailingSlash: true, maxParamLength: 500 }

export function refuse(
  ctx: Context,
  routes: readonly Route[],
  noRoute: NoRoute,
): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> {
  // Most servers are never asked, and a second tree of all the paths takes a while to grow.
  let paths: Paths | undefined
  return async (request, reply) => {
    const { method, url } = request
    const [, slug = null] = /^\/v2\/(?:analytics\/)?organizations\/([^/?]+)/.exec(url) ?? []
    await countRequest(ctx, request, slug, (spent) => (request.spent = spent))
    paths ??= knownPaths(routes)
    const allowed = paths.find('GET', url)?.store as string | undefined
    if (allowed === undefined) {
      const page = method === 'GET' || method === 'HEAD' ? noRoute.answerBrowser?.(request, reply) : null
      if (page) return page
      throw notFound(`There is nothing at ${method} ${pathOf(url).slice(0, 200)}`)
    }
    void reply.header('Allow', allowed)
    throw new ApiError(405, `${method} is not allowed here; allowed are ${allowed}.`)
  }
}

type Paths = ReturnType<typeof findMyWay>

/** Every path, as if it were one to get, with the methods that it has. */
function knownPaths(routes: readonly Route[]): Paths {
  const methodsByPath = new Map<string, string[]>()
  for (const { url, methods } of routes) {
    // Two URLs that differ in the names of their placeholders are one path.
    const path = url.replace(/:\w+/g, ':x')
    methodsByPath.set(path, [...(methodsByPath.get(path) ?? []), ...methods])
  }
  const paths = findMyWay(routerOptions)
  for (const [path, methods] of methodsByPath) {
    const implied = methods.includes('GET') ? ['HEAD', 'OPTIONS'] : ['OPTIONS']
    paths.on('GET', path, () => {}, [...methods, ...implied].join(', '))
  }
  return paths
}
