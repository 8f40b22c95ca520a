import { readDelivery } from '../github/webhook.ts'
import type { Webhook } from '../host.ts'
import { hasSignature, headerOf } from '../signature.ts'

const signatures = ['x-forgejo-signature', 'x-gitea-signature', 'x-hub-signature-256']

export const webhook: Webhook = {
  identify(headers) {
    const event = headerOf(headers, 'x-forgejo-event', 'x-gitea-event')
    return event === null ? null : { event, id: headerOf(headers, 'x-forgejo-delivery', 'x-gitea-delivery') }
  },
  isGenuine: (headers, body, secret) => hasSignature(headers, signatures, body, secret),
  read: ({ event, json }) => ({ ...readDelivery(event, json()), env: {} }),
  findPullRequest: (number, { commit, isFork }) => ({
    commit,
    env: isFork ? { BUILDKITE_REFSPEC: `refs/pull/${number}/head` } : {},
  }),
  canBeDisabled: false,
}
