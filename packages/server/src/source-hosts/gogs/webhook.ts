import { badRequest } from '../../lib/errors.ts'
import { readDelivery } from '../github/webhook.ts'
import type { Webhook } from '../host.ts'
import { hasSignature, headerOf } from '../signature.ts'

/** Gitea and Forgejo send these headers too, and come before. */
export const webhook: Webhook = {
  identify(headers) {
    const event = headerOf(headers, 'x-gogs-event')
    return event === null ? null : { event, id: headerOf(headers, 'x-gogs-delivery') }
  },
  isGenuine: (headers, body, secret) => hasSignature(headers, ['x-gogs-signature'], body, secret),
  read({ event, json }) {
    if (event === 'pull_request') {
      throw badRequest(
        'Gogs does not say which commit a pull request has, so none is built. Let the webhook send pushes only.',
      )
    }
    return { ...readDelivery(event, json()), env: {} }
  },
  findPullRequest: (_number, { commit }) => ({ commit, env: {} }),
  canBeDisabled: false,
}
