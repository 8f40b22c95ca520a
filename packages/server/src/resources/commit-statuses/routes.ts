import { Type } from 'typebox'
import { pageAnswer, readPage } from '../../http/paging.ts'
import { number, text } from '../../http/params.ts'
import { route } from '../../http/route.ts'
import { notFound } from '../../lib/errors.ts'
import * as builds from '../builds/queries.ts'
import { presentStatus } from './present.ts'
import * as statuses from './queries.ts'
import { CommitStatus } from './schema.ts'

const listStatuses = route({
  method: 'GET',
  url: '/v2/organizations/:org/pipelines/:pipeline/builds/:build/commit-statuses',
  summary: 'List what the source host is told of the commit of a build, and whether it has taken it',
  scope: 'read_builds',
  permission: 'read_pipeline',
  params: { pipeline: text('pipeline'), build: number('build') },
  paging: 'pages',
  answers: { 200: Type.Array(CommitStatus) },
  async handler({ ctx, org, params, url }) {
    const build = await builds.findByNumber(ctx.db, org.id, params.pipeline, params.build)
    if (build === undefined) throw notFound('No build found')
    const page = readPage(url)
    const rows = await statuses.listOfBuild(ctx.db, org.id, build.id, page)
    return pageAnswer(page, rows, presentStatus)
  },
})

export const commitStatusRoutes = [listStatuses]
