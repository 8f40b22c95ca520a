import { Type } from 'typebox'
import { Short } from '../fields.ts'
import { hookReader } from '../hooks.ts'
import type { HookApi, NewWebhook } from '../host.ts'
import { withQuery } from '../repositories.ts'
import { apiPath } from './address.ts'

const events = [
  'repo:refs_changed',
  'pr:opened',
  'pr:from_ref_updated',
  'pr:modified',
  'pr:merged',
  'pr:declined',
  'pr:deleted',
  'pr:reviewer:approved',
]

const ServerHook = Type.Object({
  id: Type.Integer(),
  url: Short,
  active: Type.Boolean(),
  events: Type.Array(Short),
})

const perPage = 100
const hooksOf = (repository: string) => `${apiPath(repository)}/webhooks`

const bodyOf = ({ url, secret }: NewWebhook) => ({
  name: 'Millrace',
  url,
  active: true,
  events,
  configuration: secret === null ? {} : { secret },
})

export const hooks: HookApi = {
  events,
  needs: 'the permission "Repository admin"',
  perPage,
  listRequest: (repository, page) => ({
    method: 'GET',
    path: withQuery(hooksOf(repository), { limit: perPage, start: (page - 1) * perPage }),
  }),
  createRequest: (hook) => ({ path: hooksOf(hook.repository), body: bodyOf(hook) }),
  updateRequest: (id, hook) => ({
    method: 'PUT',
    path: `${hooksOf(hook.repository)}/${id}`,
    body: bodyOf(hook),
  }),
  deleteRequest: (repository, id) => ({ method: 'DELETE', path: `${hooksOf(repository)}/${id}` }),
  testRequest: null,
  ...hookReader(ServerHook, 'values', ({ id, url, active, events: sent }) => ({
    id: String(id),
    url,
    isActive: active,
    events: sent,
  })),
}
