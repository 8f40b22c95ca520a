import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { Type } from 'typebox'
import type { Context } from '../../../context.ts'
import { svg, type Answer } from '../../../http/answer.ts'
import type { Param } from '../../../http/params.ts'
import { route } from '../../../http/route.ts'
import { notFound } from '../../../lib/errors.ts'
import { isStorable } from '../../../lib/unstorable.ts'
import { renderBadge } from './present.ts'
import * as badges from './queries.ts'
import { readLook, statusOfSteps, type BadgeStatus } from './rules.ts'

const badge: Param = {
  schema: Type.String({ description: 'As in the `badge_url` of a pipeline.' }),
  notFound: 'No badge found',
  matches: (text) => /^[0-9a-f]{50}$/.test(text),
}

const filters = {
  branch: Type.Optional(Type.String({ description: 'Of this branch only; default: of any.' })),
  step: Type.Optional(Type.String({ description: 'Of the steps with this label or key only.' })),
}

const getBadgeRoute = route({
  method: 'GET',
  url: '/badges/:badge.svg',
  summary: 'Get an image with the result of the newest build that passed or failed',
  scope: 'none',
  permission: 'anonymous',
  params: { badge },
  query: {
    ...filters,
    style: Type.Optional(Type.String({ description: '`square` or `flat-square`; default: rounded.' })),
    theme: Type.Optional(
      Type.String({
        description:
          '`default`, `github`, `dark`, `light`, or colours in hexadecimal: passing,failing,unknown,label,label text,status text.',
      }),
    ),
  },
  answers: { 200: Type.String({ contentMediaType: 'image/svg+xml' }), 304: null },
  async handler({ ctx, params, query, headers }) {
    const status = await statusOf(ctx, params.badge, query)
    const image = renderBadge(status, readLook(query.style, query.theme))
    return fresh(headers, image, svg(image))
  },
})

const getBadgeStatusRoute = route({
  method: 'GET',
  url: '/badges/:badge.json',
  summary: 'Get how the newest build that passed or failed ended',
  scope: 'none',
  permission: 'anonymous',
  params: { badge },
  query: filters,
  answers: {
    200: Type.Object({
      status: Type.Union([Type.Literal('passing'), Type.Literal('failing'), Type.Literal('unknown')], {
        description: 'How that build ended; `unknown` when there is none.',
      }),
    }),
    304: null,
  },
  async handler({ ctx, params, query, headers }) {
    const status = await statusOf(ctx, params.badge, query)
    return fresh(headers, status, { status: 200, body: { status } })
  },
})

async function statusOf(
  ctx: Context,
  token: string,
  { branch, step }: { branch?: string; step?: string },
): Promise<BadgeStatus> {
  const pipeline = await badges.findPipeline(ctx.db, token)
  if (pipeline === undefined) throw notFound('No badge found')
  if (![branch, step].every((text) => text === undefined || isStorable(text))) return 'unknown'
  const build = await badges.findNewestEnded(ctx.db, pipeline, branch || undefined)
  if (build === undefined) return 'unknown'
  if (step) return statusOfSteps(await badges.listSteps(ctx.db, pipeline, build.id, step))
  return build.state === 'passed' ? 'passing' : 'failing'
}

/** Proxies may cache a badge, and must revalidate it each time. */
function fresh(headers: IncomingHttpHeaders, content: string, answer: Answer): Answer {
  const tag = `"${createHash('sha256').update(content).digest('hex').slice(0, 20)}"`
  const caching = { 'Cache-Control': 'public, max-age=0, must-revalidate', ETag: tag }
  const isKnown = (headers['if-none-match'] ?? '')
    .split(',')
    .some((known) => known.trim().replace(/^W\//, '') === tag)
  if (isKnown) return { status: 304, headers: caching }
  return { ...answer, headers: { ...answer.headers, ...caching } }
}

export const badgeRoutes = [getBadgeRoute, getBadgeStatusRoute]
