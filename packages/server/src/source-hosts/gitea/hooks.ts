import { hookConfig } from '../github/hooks.ts'
import { configuredHooks } from '../hooks.ts'
import type { HookApi } from '../host.ts'
import { withQuery } from '../repositories.ts'
import { repositoryPath } from '../status.ts'

const allEvents = ['push', 'delete', 'pull_request', 'pull_request_sync', 'pull_request_label']

const hooksOf = (repository: string) => `/repos/${repositoryPath(repository)}/hooks`

export const hooksOfType = (type: 'gitea' | 'forgejo' | 'gogs', events = allEvents): HookApi => ({
  events,
  needs: 'the scope write:repository, of an account that administers the repository',
  // The host's own limit, unless its operator changes it.
  perPage: 50,
  listRequest: (repository, page) => ({
    method: 'GET',
    path: withQuery(hooksOf(repository), { limit: 50, page }),
  }),
  createRequest: (hook) => ({
    path: hooksOf(hook.repository),
    body: { type, active: true, events, config: hookConfig(hook) },
  }),
  updateRequest: (id, hook) => ({
    method: 'PATCH',
    path: `${hooksOf(hook.repository)}/${id}`,
    body: { active: true, events, config: hookConfig(hook) },
  }),
  deleteRequest: (repository, id) => ({ method: 'DELETE', path: `${hooksOf(repository)}/${id}` }),
  testRequest: (repository, id) => ({ path: `${hooksOf(repository)}/${id}/tests` }),
  ...configuredHooks,
})
