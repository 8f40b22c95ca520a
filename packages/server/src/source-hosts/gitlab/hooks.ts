import { Type } from 'typebox'
import { Short } from '../fields.ts'
import { hookReader } from '../hooks.ts'
import type { HookApi, NewWebhook } from '../host.ts'
import { withQuery } from '../repositories.ts'

const events = ['push_events', 'tag_push_events', 'merge_requests_events']

/** Its events are fields of their own. */
const GitlabHook = Type.Object({ id: Type.Integer(), url: Short, alert_status: Type.Optional(Short) })

const hooksOf = (repository: string) => `/projects/${encodeURIComponent(repository)}/hooks`

const bodyOf = ({ url, secret }: NewWebhook) => ({
  url,
  ...Object.fromEntries(events.map((event) => [event, true])),
  token: secret,
})

export const hooks: HookApi = {
  events,
  needs: 'the scope api, of an account that is a maintainer of the project',
  perPage: 100,
  listRequest: (repository, page) => ({
    method: 'GET',
    path: withQuery(hooksOf(repository), { per_page: 100, page }),
  }),
  createRequest: (hook) => ({ path: hooksOf(hook.repository), body: bodyOf(hook) }),
  updateRequest: (id, hook) => ({
    method: 'PUT',
    path: `${hooksOf(hook.repository)}/${id}`,
    body: bodyOf(hook),
  }),
  deleteRequest: (repository, id) => ({ method: 'DELETE', path: `${hooksOf(repository)}/${id}` }),
  testRequest: (repository, id) => ({ path: `${hooksOf(repository)}/${id}/test/push_events` }),
  ...hookReader(GitlabHook, null, (found) => ({
    id: String(found.id),
    url: found.url,
    // GitLab switches off a webhook that fails again and again.
    isActive: found.alert_status !== 'disabled',
    events: Object.entries<unknown>(found).flatMap(([name, value]) =>
      name.endsWith('_events') && value === true ? [name] : [],
    ),
  })),
}
