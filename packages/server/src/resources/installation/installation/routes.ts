import { readVersion } from '../../../db/migrate.ts'
import { ok } from '../../../http/answer.ts'
import { route } from '../../../http/route.ts'
import { forbidden } from '../../../lib/errors.ts'
import { measureFailedRows } from '../../../metrics/failed-rows-metrics.ts'
import { readMetrics } from '../../../metrics/read-metrics.ts'
import { measureTasks } from '../../../metrics/task-metrics.ts'
import { measureDeliveries } from '../../../notifications/delivery/delivery-metrics.ts'
import { measureRelay } from '../../../notifications/outbox/relay-metrics.ts'
import { maySeeInstallation } from '../../people/user/operators.ts'
import { measureCompaction } from '../../builds/log/ingest/compaction-metrics.ts'
import { presentInstallation } from './present.ts'
import * as installation from './queries.ts'
import { Installation } from './schema.ts'

const mostOrganizations = 100

const metrics = [measureTasks, measureFailedRows, measureRelay, measureDeliveries, measureCompaction]

const getInstallationRoute = route({
  method: 'GET',
  url: '/v2/installation',
  summary: 'Get the state of the installation; for operators, with a session',
  scope: 'none',
  permission: 'token',
  answers: { 200: Installation },
  errors: {
    403: 'The user is no operator, or the session was opened with an access token or by single sign-on.',
  },
  async handler({ ctx, caller }) {
    if (!(await maySeeInstallation(ctx.db, caller)))
      throw forbidden('Only operators who have signed in with a password or a link may see the installation')
    const row = await installation.getInstallation(ctx.db)
    return ok(
      presentInstallation(ctx.config, {
        version: await readVersion(),
        row,
        processes: await installation.listProcesses(ctx.db),
        organizations: await installation.listOrganizations(ctx.db, mostOrganizations),
        readings: await readMetrics(ctx.db, ctx.queueLabels, metrics),
      }),
    )
  },
})

export const installationRoutes = [getInstallationRoute]
