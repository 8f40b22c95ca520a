// What a post-receive hook sends: the lines it is given, `old new ref`, and after each, if it likes, what
// `git log -1` says of the commit.
import { readCommitText } from '../../lib/commit-text.ts'
import { badRequest } from '../../lib/errors.ts'
import { isStorable } from '../../lib/unstorable.ts'
import type { Tiding } from './event.ts'
import { authorOf, cutMessage, isZero, readRef, strangeRef } from './fields.ts'

const refLine = /^([0-9a-f]{40}|[0-9a-f]{64}) ([0-9a-f]{40}|[0-9a-f]{64}) (refs\/\S+)$/
const mostRefs = 1000

export function readPlain(text: string): Tiding[] {
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

const notUnderstood = () =>
  badRequest('The body must begin with the lines of a post-receive hook: old commit, new commit, ref.')

function readUpdate([, , after = '', name = '']: RegExpExecArray, text: string): Tiding {
  const ref = readRef(name)
  if (ref === null) return strangeRef(name)
  if (isZero(after)) return { kind: 'deleted', ...ref }
  const details = readCommitText(text)
  return {
    kind: 'pushed',
    ...ref,
    // An annotated tag is an object of its own; the commit is what it points to.
    commit: details?.commit ?? after,
    message: cutMessage(details?.message),
    author: authorOf(details?.author?.name, details?.author?.email),
  }
}
