import { Type } from 'typebox'
import type { Answer } from '../../../http/answer.ts'
import { route } from '../../../http/route.ts'
import { isStorable } from '../../../lib/unstorable.ts'
import { presentProjects } from './present.ts'
import * as watched from './queries.ts'

const mostPipelines = 1000

/** The programs that read it know no other way to send a token. */
const watching = {
  method: 'GET',
  scope: 'read_builds',
  takesBasic: true,
  query: {
    branch: Type.Optional(Type.String({ description: 'Builds of this branch only; default: of any.' })),
  },
  answers: { 200: Type.String({ contentMediaType: 'application/xml' }) },
} as const

const listProjectsRoute = route({
  ...watching,
  url: '/v2/organizations/:org/cc.xml',
  summary: `Get the state of the pipelines that the caller may see as CCTray reads it, the first ${mostPipelines} by name`,
  permission: 'member',
  async handler({ ctx, org, caller, query: { branch } }) {
    const pipelines = isWatchable(branch)
      ? await watched.listVisible(ctx.db, org, caller, { branch, limit: mostPipelines })
      : []
    return xml(presentProjects(ctx.config.url, org.slug, branch, pipelines))
  },
})

const getProjectRoute = route({
  ...watching,
  url: '/v2/organizations/:org/pipelines/:pipeline/cc.xml',
  summary: 'Get the state of a pipeline as CCTray reads it',
  permission: 'read_pipeline',
  async handler({ ctx, org, pipelineId, query: { branch } }) {
    const pipelines = isWatchable(branch) ? await watched.listById(ctx.db, org.id, pipelineId, branch) : []
    return xml(presentProjects(ctx.config.url, org.slug, branch, pipelines))
  },
})

/** No branch has a name that cannot be stored. */
const isWatchable = (branch: string | undefined) => branch === undefined || isStorable(branch)

const xml = (body: string): Answer => ({
  status: 200,
  body,
  headers: { 'Content-Type': 'application/xml; charset=utf-8', 'Cache-Control': 'private, no-cache' },
})

export const ccRoutes = [listProjectsRoute, getProjectRoute]
