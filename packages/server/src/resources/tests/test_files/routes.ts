import { okJson } from '../../../http/answer.ts'
import { route } from '../../../http/route.ts'
import * as suites from '../suites/queries.ts'
import { readInThread } from '../test_plan/read.ts'
import { FileNames, FileTimes } from '../test_plan/schema.ts'
import { timeFilesInMs } from '../test_plan/times.ts'

const timeFilesRoute = route({
  method: 'POST',
  url: '/v2/analytics/organizations/:org/suites/:suite/test_files',
  summary: 'Get what files of tests are expected to take',
  scope: 'read_suites',
  permission: 'member',
  documentedBody: FileNames,
  readsBytes: true,
  callsOut: true,
  bodyLimitBytes: 10 * 1024 * 1024,
  answers: { 200: FileTimes },
  async handler({ ctx, org, caller, params, rawBody, gone }) {
    const suite = await suites.getBySlug(ctx.db, org, caller, params.suite)
    const owner = { kind: 'upload', organizationId: org.id, sender: caller.user.id, until: gone() } as const
    const paths = await readInThread(owner, 'readFileNames', rawBody)
    return okJson(await timeFilesInMs(ctx.db, { org, caller, suiteId: suite.id, now: ctx.now() }, paths))
  },
})

export const testFileRoutes = [timeFilesRoute]
