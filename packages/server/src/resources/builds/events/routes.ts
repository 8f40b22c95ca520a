import { Readable } from 'node:stream'
import { Type } from 'typebox'
import { route } from '../../../http/route.ts'
import { liveStreams } from './live-streams.ts'
import { readAfter, readBuildIds } from './rules.ts'
import { EventsQuery } from './schema.ts'

const followEventsRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/events',
  summary: 'Follow changes of builds, jobs, agents and queues as server-sent events',
  scope: 'read_builds',
  permission: 'member',
  query: EventsQuery,
  // What is sent is judged for every message.
  mayFollow: async () => true,
  answers: { 200: Type.String({ contentMediaType: 'text/event-stream' }) },
  errors: {
    400: 'The cursor or the id of a build is invalid, or too many builds are given.',
    503: 'The server has too many streams open, or is stopping.',
  },
  async handler({ ctx, method, headers, org, caller, query, reauthorize }) {
    const after = readAfter(headers['last-event-id'], query.after)
    const buildIds = readBuildIds(query.build)
    const request = { organizationId: org.id, userId: caller.user.id, buildIds, after, reauthorize }
    return {
      status: 200,
      stream: method === 'HEAD' ? Readable.from([]) : liveStreams(ctx).open(request).readable,
      headers: {
        'Content-Type': 'text/event-stream; charset=utf-8',
        'Cache-Control': 'no-store',
        'X-Accel-Buffering': 'no',
      },
    }
  },
})

export const eventRoutes = [followEventsRoute]
