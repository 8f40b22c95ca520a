import { Type } from 'typebox'
import type { Webhook } from '../host.ts'
import { hasSignature, headerOf } from '../signature.ts'
import { ignored, type HostEvent } from '../events.ts'
import {
  authorOf,
  beforeOf,
  Commit,
  cutMessage,
  isZero,
  maybe,
  reader,
  readRef,
  Short,
  Text,
  unknownRef,
} from '../fields.ts'
import { addressesOf, Repository } from './address.ts'
import { reasonOf, readPullRequest } from './pull-requests.ts'

const readCommon = reader(
  Type.Object({
    repository: maybe(Repository),
    pullRequest: maybe(Type.Object({ toRef: maybe(Type.Object({ repository: maybe(Repository) })) })),
  }),
)

/** Events that bitbucket.org has not, or has under other names. */
const ownEvents = /^(?:pr:|mirror:|diagnostics:|repo:(?:refs_changed|modified|forked|comment:|secret_))/

export const webhook: Webhook = {
  identify(headers) {
    const event = headerOf(headers, 'x-event-key')
    if (event === null || headerOf(headers, 'x-hook-uuid', 'x-request-uuid') !== null) return null
    const id = headerOf(headers, 'x-request-id')
    return ownEvents.test(event) || id !== null ? { event, id } : null
  },
  isGenuine: (headers, body, secret) => hasSignature(headers, ['x-hub-signature'], body, secret),
  read({ event, json }) {
    // The body of a test need not be JSON.
    if (event === 'diagnostics:ping')
      return { action: null, repositories: [], events: [ignored('A ping: the webhook works.')], env: {} }
    const payload = json()
    const { repository, pullRequest } = readCommon(payload)
    const own = repository ?? pullRequest?.toRef?.repository
    const events = readEvents(event, payload)
    return { action: null, repositories: own ? addressesOf(own) : [], events, env: {} }
  },
  // The server keeps the commits of forks too.
  findPullRequest: (number, { commit, isFork }) => ({
    commit,
    env: isFork ? { BUILDKITE_REFSPEC: `refs/pull-requests/${number}/from` } : {},
  }),
  canBeDisabled: false,
}

function readEvents(event: string, payload: object): HostEvent[] {
  if (event === 'repo:refs_changed') return readChanges(payload)
  const reason = reasonOf(event)
  return reason === null
    ? [ignored(`The event ${event} makes no builds.`)]
    : [readPullRequest(payload, reason)]
}

const Person = Type.Object({ name: maybe(Text), displayName: maybe(Text), emailAddress: maybe(Text) })
const readChanged = reader(
  Type.Object({
    changes: Type.Array(
      Type.Object({
        ref: Type.Object({ id: Text }),
        fromHash: maybe(Text),
        toHash: Short,
        type: maybe(Text),
      }),
      { maxItems: 1000 },
    ),
    /** Newer servers send the last commits of a push. */
    commits: maybe(Type.Array(Type.Object({ id: maybe(Text), message: maybe(Text), author: maybe(Person) }))),
  }),
)
const readHash = reader(Type.Object({ toHash: Commit }))

function readChanges(payload: object): HostEvent[] {
  const { changes, commits } = readChanged(payload)
  return changes.map(({ ref: { id }, fromHash, toHash, type }): HostEvent => {
    const ref = readRef(id)
    if (ref === null) return unknownRef(id)
    const before = beforeOf(fromHash)
    if (type === 'DELETE' || isZero(toHash)) return { kind: 'deleted', ...ref, before }
    const { toHash: commit } = readHash({ toHash })
    const head = commits?.find((one) => one.id === commit)
    const { name, displayName, emailAddress } = head?.author ?? {}
    return {
      kind: 'pushed',
      ...ref,
      before,
      after: commit,
      commit,
      message: cutMessage(head?.message),
      author: authorOf(displayName || name, emailAddress),
    }
  })
}
