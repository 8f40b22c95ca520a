import { Type, type Static } from 'typebox'
import type { Webhook } from '../host.ts'
import { hasSignature, headerOf } from '../signature.ts'
import {
  ignored,
  pullRequestChanged,
  type Fork,
  type Pull,
  type PullRequestReason,
  type HostEvent,
} from '../events.ts'
import { authorOf, Commit, cutMessage, maybe, Number, reader, RefName, Short, Text } from '../fields.ts'

/** Pull requests name their commits by the first twelve characters. */
const ShortCommit = Type.String({
  pattern: '^[0-9a-f]{12,64}$',
  description: 'must be a commit of at least 12 characters',
})

const Repository = Type.Object({
  uuid: maybe(Short),
  full_name: maybe(Short),
  is_private: maybe(Type.Boolean()),
  links: maybe(Type.Object({ html: maybe(Type.Object({ href: maybe(Short) })) })),
})

const readCommon = reader(Type.Object({ repository: maybe(Repository) }))

export const webhook: Webhook = {
  identify(headers) {
    const event = headerOf(headers, 'x-event-key')
    return event === null ? null : { event, id: headerOf(headers, 'x-request-uuid') }
  },
  isGenuine: (headers, body, secret) => hasSignature(headers, ['x-hub-signature'], body, secret),
  read({ event, json }) {
    const payload = json()
    const address = readCommon(payload).repository?.links?.html?.href
    const events = readEvents(event, payload)
    return { action: null, repositories: address ? [address] : [], events, env: {} }
  },
  findPullRequest: (_number, { commit, branch, isFork, fork }) =>
    isFork
      ? { commit, env: { BUILDKITE_REFSPEC: `refs/heads/${branch}` }, ...(fork ? { fork } : {}) }
      : { commit, env: {} },
  canBeDisabled: false,
}

function readEvents(event: string, payload: object): HostEvent[] {
  if (event === 'diagnostics:ping') return [ignored('A ping: the webhook works.')]
  if (event === 'repo:push') return readPush(payload)
  const reason = Object.hasOwn(reasons, event) ? reasons[event] : undefined
  if (reason !== undefined) return [readPullRequest(payload, reason)]
  return [ignored(`The event ${event} makes no builds.`)]
}

const Author = Type.Object({ raw: maybe(Text) })
const Ref = Type.Object({
  type: Text,
  name: RefName,
  target: maybe(Type.Object({ hash: Commit, message: maybe(Text), author: maybe(Author) })),
})
const readPushed = reader(
  Type.Object({
    push: Type.Object({
      changes: Type.Array(Type.Object({ new: maybe(Ref), old: maybe(Ref) }), { maxItems: 1000 }),
    }),
  }),
)

function readPush(payload: object): HostEvent[] {
  return readPushed(payload).push.changes.map(({ new: now, old }): HostEvent => {
    const named = now ?? old
    if (!named) return ignored('The change names no ref.')
    const ref = refOf(named.type)
    if (ref === null) return ignored(`${named.name} is neither branch nor tag.`)
    const before = old?.target?.hash ?? null
    if (!now?.target) return { kind: 'deleted', ref, name: named.name, before }
    const { hash, message, author } = now.target
    return {
      kind: 'pushed',
      ref,
      name: now.name,
      before,
      after: hash,
      commit: hash,
      message: cutMessage(message),
      author: readRaw(author?.raw ?? ''),
    }
  })
}

function refOf(type: string): 'branch' | 'tag' | null {
  if (type === 'branch' || type === 'named_branch') return 'branch'
  return type === 'tag' || type === 'annotated_tag' ? 'tag' : null
}

/** `Ada Example <ada@example.com>` */
function readRaw(raw: string) {
  const match = /^([^<]*)<([^<>]*)>/.exec(raw)
  return match === null ? authorOf(raw.trim(), null) : authorOf(match[1]?.trim(), match[2]?.trim())
}

const Side = Type.Object({
  branch: Type.Object({ name: RefName }),
  commit: Type.Object({ hash: ShortCommit }),
  repository: maybe(Repository),
})
export const PullRequest = Type.Object({
  id: Number,
  title: Short,
  state: maybe(Text),
  draft: maybe(Type.Boolean()),
  author: maybe(Type.Object({ display_name: maybe(Text) })),
  source: Side,
  destination: Type.Object({ branch: Type.Object({ name: RefName }), repository: maybe(Repository) }),
})
const readPulled = reader(
  Type.Object({
    pullrequest: PullRequest,
    comment: maybe(Type.Object({ content: maybe(Type.Object({ raw: maybe(Text) })) })),
  }),
)

const reasons: Readonly<Record<string, PullRequestReason>> = {
  'pullrequest:created': 'opened',
  // Bitbucket does not say what changed. Without a new commit, the build is skipped as a repetition.
  'pullrequest:updated': 'pushed',
  'pullrequest:fulfilled': 'closed',
  'pullrequest:rejected': 'closed',
  'pullrequest:approved': 'review_submitted',
  'pullrequest:changes_request_created': 'review_submitted',
  'pullrequest:comment_created': 'comment',
}

export function pullOf(given: Static<typeof PullRequest>): Pull {
  const { source, destination } = given
  const [head, base] = [source.repository, destination.repository]
  return {
    title: given.title,
    isOpen: given.state === undefined || given.state === null || given.state === 'OPEN',
    branch: source.branch.name,
    commit: source.commit.hash,
    owner: head?.full_name?.split('/')[0] ?? null,
    repository: head?.links?.html?.href ?? null,
    fork: head ? forkOf(head) : null,
    isFork: !head?.uuid || !base?.uuid || head.uuid !== base.uuid,
    base: destination.branch.name,
    labels: [],
    isDraft: given.draft ?? null,
    author: authorOf(given.author?.display_name, null),
  }
}

/** Null: the fork has no usable address. */
function forkOf({ full_name: name, links, is_private: isPrivate }: Static<typeof Repository>): Fork | null {
  const href = links?.html?.href ?? ''
  const isNamed = /^\w[\w.-]*\/\w[\w.-]*$/.test(name ?? '')
  if (!isNamed || !/^https:\/\/\w[\w.-]*(?::\d+)?\/\w[\w./-]*$/.test(href)) return null
  return { name: name ?? '', url: `${href.replace(/\.git$/, '')}.git`, isPrivate: isPrivate ?? true }
}

function readPullRequest(payload: object, reason: PullRequestReason): HostEvent {
  const { pullrequest: given, comment } = readPulled(payload)
  return pullRequestChanged(given.id, reason, pullOf(given), {
    // Bitbucket does not say who may push, so no comment makes a build.
    comment: reason === 'comment' ? { text: comment?.content?.raw ?? '', isByTrusted: false } : null,
  })
}
