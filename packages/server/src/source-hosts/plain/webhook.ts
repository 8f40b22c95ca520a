// A post-receive hook sends the lines that git gives it, `old new ref`. Each may be followed by the output of `git log -1`
// for the new commit.
import { readCommitText } from '../../lib/commit-text.ts'
import { badRequest } from '../../lib/errors.ts'
import { isStorable } from '../../lib/unstorable.ts'
import type { HostEvent } from '../events.ts'
import type { Webhook } from '../host.ts'
import { hasSignature, headerOf } from '../signature.ts'
import { authorOf, beforeOf, cutMessage, isZero, readRef, unknownRef } from '../fields.ts'

const refLine = /^([0-9a-f]{40}|[0-9a-f]{64}) ([0-9a-f]{40}|[0-9a-f]{64}) (refs\/\S+)$/
const mostRefs = 1000

/** Accepts every request. */
export const webhook: Webhook = {
  identify: (headers) => ({ event: 'push', id: headerOf(headers, 'x-millrace-delivery') }),
  isGenuine: (headers, body, secret) => hasSignature(headers, ['x-hub-signature-256'], body, secret),
  read: ({ text }) => ({ action: null, repositories: [], events: readLines(text), env: {} }),
  findPullRequest: (_number, { commit }) => ({ commit, env: {} }),
  canBeDisabled: false,
}

function readLines(text: string): HostEvent[] {
  if (/^\s*[[{]/.test(text)) throw badRequest(noHost)
  if (!isStorable(text)) throw badRequest('The body contains characters that cannot be stored.')
  const updates: { line: RegExpExecArray; more: string[] }[] = []
  for (const line of text.replaceAll('\r', '').split('\n')) {
    const match = refLine.exec(line)
    if (match !== null) updates.push({ line: match, more: [] })
    else if (updates.length > 0) updates.at(-1)?.more.push(line)
    else if (line.trim() !== '') throw notUnderstood()
  }
  if (updates.length === 0) throw notUnderstood()
  if (updates.length > mostRefs) throw badRequest(`One delivery may tell of ${mostRefs} refs at most.`)
  return updates.map(({ line, more }) => readUpdate(line, more.join('\n')))
}

const noHost =
  'The delivery is of no source host that Millrace reads: GitHub, GitLab, Bitbucket, Bitbucket Data Center, Azure DevOps, Gitea, Forgejo or Gogs.'

const notUnderstood = () =>
  badRequest('The body must begin with the lines of a post-receive hook: old commit, new commit, ref.')

function readUpdate([, old = '', after = '', name = '']: RegExpExecArray, text: string): HostEvent {
  const ref = readRef(name)
  if (ref === null) return unknownRef(name)
  const before = beforeOf(old)
  if (isZero(after)) return { kind: 'deleted', ...ref, before }
  const details = readCommitText(text)
  return {
    kind: 'pushed',
    ...ref,
    before,
    after,
    // For an annotated tag, `after` is the tag object and the text names its commit.
    commit: details?.commit ?? after,
    message: cutMessage(details?.message),
    author: authorOf(details?.author?.name, details?.author?.email),
  }
}
