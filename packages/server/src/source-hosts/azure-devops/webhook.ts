// Service hooks of Azure DevOps have no headers of their own: the body says what they are, and nothing is signed. Their secret is the
// password of basic authentication, or a header that the subscription adds.
import { Type } from 'typebox'
import type { IncomingHttpHeaders } from 'node:http'
import type { Webhook } from '../host.ts'
import { headerOf, isSame } from '../signature.ts'
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
import { addressesOf } from './address.ts'
import { readCommented, readPullRequest, Repository } from './pull-requests.ts'

const beginningBytes = 4096
const noSubscription = '00000000-0000-0000-0000-000000000000'

const readCommon = reader(
  Type.Object({
    resource: maybe(
      Type.Object({
        repository: maybe(Repository),
        pullRequest: maybe(Type.Object({ repository: maybe(Repository) })),
      }),
    ),
  }),
)

export const webhook: Webhook = {
  identify(_headers, body) {
    const beginning = body.subarray(0, beginningBytes).toString('latin1')
    if (!/^\s*\{/.test(beginning) || !beginning.includes('"publisherId"')) return null
    const event = /"eventType"\s*:\s*"([\w.-]+)"/.exec(beginning)?.[1]
    if (event === undefined) return null
    const subscription = /"subscriptionId"\s*:\s*"([0-9a-f-]{36})"/i.exec(beginning)?.[1]
    const notification = /"notificationId"\s*:\s*(\d+)/.exec(beginning)?.[1]
    // A test has no subscription, and its number is always the same.
    const isTest = subscription === undefined || subscription === noSubscription || notification === undefined
    return { event, id: isTest ? null : `${subscription} ${notification}` }
  },
  isGenuine(headers, _body, secret) {
    const given = headerOf(headers, 'x-millrace-token') ?? passwordOf(headers)
    return given !== null && isSame(given, secret)
  },
  read({ event, json }) {
    const payload = json()
    const { resource } = readCommon(payload)
    const repository = resource?.repository ?? resource?.pullRequest?.repository
    const { remoteUrl, webUrl, sshUrl } = repository ?? {}
    return {
      action: null,
      repositories: addressesOf({ remoteUrl: remoteUrl ?? webUrl ?? null, sshUrl: sshUrl ?? null }),
      events: readEvents(event, payload),
      env: {},
    }
  },
  // The repository keeps the commits of forks only below the result of merging them.
  findPullRequest: (number, { commit, isFork }) => ({
    commit,
    env: isFork ? { BUILDKITE_REFSPEC: `refs/pull/${number}/merge` } : {},
  }),
  canBeDisabled: false,
}

function passwordOf(headers: IncomingHttpHeaders): string | null {
  const given = /^Basic ([A-Za-z0-9+/]+={0,2})$/i.exec(headerOf(headers, 'authorization') ?? '')?.[1]
  if (given === undefined) return null
  const pair = Buffer.from(given, 'base64')
  const text = pair.toString()
  const at = text.indexOf(':')
  return at < 0 || pair.toString('base64') !== given ? null : text.slice(at + 1)
}

function readEvents(event: string, payload: object): HostEvent[] {
  switch (event) {
    case 'git.push':
      return readPush(payload)
    case 'git.pullrequest.created':
      return [readPullRequest(payload, 'opened')]
    case 'git.pullrequest.updated':
      // The host does not say what changed. Without a new commit, the build is skipped as a repetition.
      return [readPullRequest(payload, 'pushed')]
    case 'git.pullrequest.merged':
      // It is sent for every trial of a merge.
      return [readPullRequest(payload, 'other')]
    case 'ms.vss-code.git-pullrequest-comment-event':
      return [readCommented(payload)]
    default:
      return [ignored(`The event ${event} makes no builds.`)]
  }
}

const Person = Type.Object({ name: maybe(Text), email: maybe(Text) })
const readPushed = reader(
  Type.Object({
    resource: Type.Object({
      refUpdates: Type.Array(Type.Object({ name: Text, oldObjectId: maybe(Text), newObjectId: Short }), {
        maxItems: 1000,
      }),
      commits: maybe(
        Type.Array(Type.Object({ commitId: maybe(Text), comment: maybe(Text), author: maybe(Person) })),
      ),
    }),
  }),
)
const readNew = reader(Type.Object({ newObjectId: Commit }))

function readPush(payload: object): HostEvent[] {
  const { refUpdates, commits } = readPushed(payload).resource
  return refUpdates.map(({ name, oldObjectId, newObjectId }): HostEvent => {
    const ref = readRef(name)
    if (ref === null) return unknownRef(name)
    const before = beforeOf(oldObjectId)
    if (isZero(newObjectId)) return { kind: 'deleted', ...ref, before }
    const { newObjectId: commit } = readNew({ newObjectId })
    const head = commits?.find(({ commitId }) => commitId === commit)
    return {
      kind: 'pushed',
      ...ref,
      before,
      after: commit,
      commit,
      message: cutMessage(head?.comment),
      author: authorOf(head?.author?.name, head?.author?.email),
    }
  })
}
