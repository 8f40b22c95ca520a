import { withQuery } from '../repositories.ts'
import { configuredHooks } from '../hooks.ts'
import type { HookApi, NewWebhook } from '../host.ts'
import { repositoryPath } from '../status.ts'

const events = [
  'push',
  'delete',
  'pull_request',
  'pull_request_review',
  'pull_request_review_comment',
  'issue_comment',
  'merge_group',
  'release',
  'create',
  'deployment',
  'deployment_status',
  'check_run',
  'fork',
]

export const hookConfig = ({ url, secret }: NewWebhook) => ({
  url,
  content_type: 'json',
  ...(secret === null ? {} : { secret }),
})

const hooksOf = (repository: string) => `/repos/${repositoryPath(repository)}/hooks`
const permissions = { repository_hooks: 'write' } as const

export const hooks: HookApi = {
  events,
  needs: 'the scope admin:repo_hook (fine-grained tokens and Apps: Webhooks, read and write)',
  perPage: 100,
  listRequest: (repository, page) => ({
    method: 'GET',
    path: withQuery(hooksOf(repository), { per_page: 100, page }),
    permissions,
  }),
  createRequest: (hook) => ({
    path: hooksOf(hook.repository),
    body: { name: 'web', active: true, events, config: hookConfig(hook) },
    permissions,
  }),
  updateRequest: (id, hook) => ({
    method: 'PATCH',
    path: `${hooksOf(hook.repository)}/${id}`,
    body: { active: true, events, config: hookConfig(hook) },
    permissions,
  }),
  deleteRequest: (repository, id) => ({
    method: 'DELETE',
    path: `${hooksOf(repository)}/${id}`,
    permissions,
  }),
  // GitHub's "test" repeats the last push, and would build it.
  testRequest: (repository, id) => ({ path: `${hooksOf(repository)}/${id}/pings`, permissions }),
  ...configuredHooks,
}
