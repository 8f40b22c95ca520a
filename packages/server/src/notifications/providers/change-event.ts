// A PagerDuty change event for the end of a build.
import { textIn } from '../messages/message.ts'
import type { ReadableMessage } from '../messages/readable.ts'
import { nameOf, statusTextOf } from '../messages/status-text.ts'

const longestSummary = 1024

export function changeEvent(routingKey: string, message: ReadableMessage): string {
  const { build = {}, pipeline = {}, organization, occurredAt } = message
  const name = nameOf(message)
  return JSON.stringify({
    routing_key: routingKey,
    payload: {
      summary: `${name} (${textIn(build, 'branch')}) ${statusTextOf(message).text}`.slice(0, longestSummary),
      source: textIn(pipeline, 'slug'),
      timestamp: occurredAt,
      custom_details: {
        organization: textIn(organization, 'slug'),
        pipeline: textIn(pipeline, 'slug'),
        number: build['number'],
        state: textIn(build, 'state'),
        branch: textIn(build, 'branch'),
        commit: textIn(build, 'commit'),
        message: textIn(build, 'message').slice(0, 1000),
      },
    },
    links: [{ href: textIn(build, 'web_url'), text: name }],
  })
}
