import { Type } from 'typebox'
import { ok } from '../../../http/answer.ts'
import { pageAnswer, readPage } from '../../../http/paging.ts'
import { route } from '../../../http/route.ts'
import { notFound } from '../../../lib/errors.ts'
import { findBuild, getBuild } from '../../addresses/builds.ts'
import { presentStatus } from './present.ts'
import * as statuses from './queries.ts'
import { redeliver } from './redeliver.ts'
import { CommitStatus } from './schema.ts'

const listStatusesRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/pipelines/:pipeline/builds/:build/commit-statuses',
  summary: 'List the commit statuses of a build, and whether the source host has accepted them',
  scope: 'read_builds',
  permission: 'read_pipeline',
  paging: 'pages',
  answers: { 200: Type.Array(CommitStatus) },
  async handler({ ctx, org, params, url }) {
    const build = await getBuild(ctx.db, org.id, params)
    const page = readPage(url)
    const rows = await statuses.listOfBuild(ctx.db, org.id, build.id, page)
    return pageAnswer(page, rows, presentStatus)
  },
})

const redeliverStatusRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/pipelines/:pipeline/builds/:build/commit-statuses/:commit_status/redeliver',
  summary: 'Tell the source host of a status of a commit again, whether it has taken it or was given up',
  scope: 'write_builds',
  permission: 'build_pipeline',
  answers: { 200: CommitStatus },
  async handler({ ctx, org, params }) {
    const build = await findBuild(ctx.db, org.id, params)
    const status = build && (await redeliver(ctx, org.id, build, params.commit_status))
    if (status === undefined) throw notFound('No commit status found')
    return ok(presentStatus(status))
  },
})

export const commitStatusRoutes = [listStatusesRoute, redeliverStatusRoute]
