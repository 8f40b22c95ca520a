import { cursorAnswer, readCursor } from '../../../http/cursors.ts'
import { route, type RequiredFeature } from '../../../http/route.ts'
import { notFound } from '../../../lib/errors.ts'
import { openService } from '../../../notifications/delivery/open-service.ts'
import * as services from '../services/queries.ts'
import { presentLoggedEvent } from './present.ts'
import * as events from './queries.ts'
import { LoggedEventList } from './schema.ts'

const eventLog: RequiredFeature = {
  name: 'event_log_api',
  error: {
    status: 404,
    message:
      'The event log is not available to this organization. The operator of this installation can turn it on.',
  },
}

const listEventsRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/services/:service/events',
  summary: 'Read what an event log service has heard, oldest first, for a week',
  scope: 'read_notification_services',
  permission: 'manage_notification_services',
  feature: eventLog,
  paging: 'cursor',
  answers: { 200: LoggedEventList },
  errors: {
    400: 'Both `after` and `before` are given, a cursor is invalid, or `per_page` is out of range.',
    404: 'No service with that id, or one that is no event log.',
  },
  async handler({ ctx, org, params, url }) {
    const row = await services.getInOrg(ctx.db, org.id, params.service)
    if (row.provider !== 'event_log_api') {
      throw notFound(
        `A service of the provider ${row.provider} keeps no event log; make an event_log_api one`,
      )
    }
    const page = readCursor(url, `service_events ${row.id}`, ctx.keys)
    const service = openService(ctx.keys, { ...row, creator: row.created_by })
    return cursorAnswer(
      { ...page, isEndless: true },
      await events.listOfService(ctx.db, org.id, row.id, page),
      ({ created_at: at, entry_id: id }) => ({ at, id }),
      (event) => presentLoggedEvent(service, event),
    )
  },
})

export const serviceEventRoutes = [listEventsRoute]
