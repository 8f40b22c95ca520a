import { Type } from 'typebox'
import { Short } from '../fields.ts'
import { hookReader } from '../hooks.ts'
import type { HookApi, NewWebhook } from '../host.ts'
import { withQuery } from '../repositories.ts'
import { repositoryPath } from '../status.ts'

const events = [
  'repo:push',
  'pullrequest:created',
  'pullrequest:updated',
  'pullrequest:fulfilled',
  'pullrequest:rejected',
  'pullrequest:approved',
]

const BitbucketHook = Type.Object({
  uuid: Short,
  url: Short,
  active: Type.Boolean(),
  events: Type.Array(Short),
})

const hooksOf = (repository: string) => `/repositories/${repositoryPath(repository)}/hooks`

const bodyOf = ({ url, secret }: NewWebhook) => ({
  description: 'Millrace',
  url,
  active: true,
  events,
  secret,
})

export const hooks: HookApi = {
  events,
  needs: 'the scope webhook, and to administer the repository',
  perPage: 100,
  listRequest: (repository, page) => ({
    method: 'GET',
    path: withQuery(hooksOf(repository), { pagelen: 100, page }),
  }),
  createRequest: (hook) => ({ path: hooksOf(hook.repository), body: bodyOf(hook) }),
  updateRequest: (id, hook) => ({
    method: 'PUT',
    path: `${hooksOf(hook.repository)}/${encodeURIComponent(id)}`,
    body: bodyOf(hook),
  }),
  deleteRequest: (repository, id) => ({
    method: 'DELETE',
    path: `${hooksOf(repository)}/${encodeURIComponent(id)}`,
  }),
  testRequest: null,
  ...hookReader(BitbucketHook, 'values', ({ uuid, url, active, events: sent }) => ({
    id: uuid,
    url,
    isActive: active,
    events: sent,
  })),
}
