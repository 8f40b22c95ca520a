// Each pipeline has a ledger of the movements of its branches and tags. Deliveries and polls write to it in the transaction
// that makes the build, and hold the pipeline's row meanwhile, so a push is built once however often it is heard of.
//
// A movement leads from one commit to another, so A, B, A is three builds, and a second delivery of A to B is none.
// `polled_refs` has the head of each ref: where it was last. A delivery moves the head only if it begins there. Others may
// be late, so their place is unknown (`is_ordered` is false) until a poll finds the ref where one of them leads, or a
// movement from the head to their beginning arrives. So a late delivery makes no older commit look new to a poll.
import type { FoundBy } from '../conductor/build.ts'
import type { Context } from '../context.ts'
import type { Trx } from '../db/pool.ts'
import type { Deleted, Pushed } from '../source-hosts/events.ts'
import * as ledger from './ledger-queries.ts'
import type { LedgerOf, Movement, PushRow } from './ledger-queries.ts'
import * as polls from './poll-queries.ts'

/** Hosts may answer for a while as if a push that they delivered had not happened. */
export const lagSeconds = 60

const mostFollowed = 1000

const movementOf = (event: Pushed | Deleted): Movement => ({
  ref: `refs/${event.ref === 'branch' ? 'heads' : 'tags'}/${event.name}`,
  from: event.before,
  to: event.kind === 'pushed' ? event.after : null,
  tagCommit: event.kind === 'pushed' && event.commit !== event.after ? event.commit : null,
})

interface Taken {
  /** The number of the build that was made. */
  buildNumber: number | null
}

type Heard<T> = { isTaken: true; taken: T } | { isTaken: false; reason: string }

/** Calls `take` unless the movement of the delivery was built before. */
export async function hear<T extends Taken>(
  trx: Trx,
  ctx: Context,
  target: LedgerOf,
  { event, foundBy }: { event: Pushed | Deleted; foundBy: FoundBy },
  take: () => Promise<T>,
): Promise<Heard<T>> {
  const moved = movementOf(event)
  const at = ctx.now().toISOString()
  // Such a delivery could be about an earlier deletion: the next poll finds out.
  if (moved.to === null && moved.from === null) return { isTaken: true, taken: await take() }
  const head = await ledger.findHead(trx, target, moved.ref)
  const earlier = await findEarlier(trx, target, moved, head)
  if (earlier !== undefined && isDone(earlier)) {
    const reason = await refuseRepeated(trx, ctx, target, { moved, earlier, head })
    if (reason !== null) {
      await keepDelivered(trx, target, { moved, earlier, head, at })
      return { isTaken: false, reason }
    }
  }
  const isLate = await isLateDeletion(trx, target, moved, head)
  if (isLate) return { isTaken: false, reason: `${event.name} has moved since it was deleted.` }
  const taken = await take()
  const isNext = head === null || head === moved.from || head === moved.to
  if (earlier !== undefined && !isDone(earlier)) {
    await keepDelivered(trx, target, { moved, earlier, head, at })
    await ledger.setBuild(trx, target, moved.ref, earlier, taken.buildNumber)
    return { isTaken: true, taken }
  }
  const { buildNumber } = taken
  await ledger.insertPush(trx, target, {
    ...moved,
    foundBy,
    at,
    isDelivered: true,
    isOrdered: isNext,
    buildNumber,
  })
  if (isNext) await moveHead(trx, target, moved.ref, moved.to)
  return { isTaken: true, taken }
}

/** A push that made no build is decided anew: the settings may have changed since. */
const isDone = ({ commit, build_number }: PushRow) => commit === null || build_number !== null

/** Whether a poll found it while deliveries came. The delivery of it tells its place. */
const isUnplaced = ({ delivered_at, is_ordered }: PushRow) => delivered_at === null && !is_ordered

/** A movement from the head to a commit that an older poll found, or that was not built, is another one. */
async function findEarlier(
  trx: Trx,
  target: LedgerOf,
  moved: Movement,
  head: string | null,
): Promise<PushRow | undefined> {
  const found = await ledger.findSame(trx, target, moved)
  if (found === undefined || isUnplaced(found)) return found
  const mayBeAnother = found.from_commit !== moved.from || !isDone(found)
  return mayBeAnother && beginsAt(head, moved) ? undefined : found
}

const beginsAt = (head: string | null, { from, to }: Movement) => head === from && head !== to

/** The same movement twice, from the head: either the ref went there again, or this delivery is late. Only a poll can tell. */
async function refuseRepeated(
  trx: Trx,
  ctx: Context,
  target: LedgerOf,
  { moved, earlier, head }: { moved: Movement; earlier: PushRow; head: string | null },
): Promise<string | null> {
  const built = earlier.build_number === null ? '' : `, and built as #${earlier.build_number}`
  const heard = `This push was heard of before${built}.`
  if (isUnplaced(earlier) || !beginsAt(head, moved)) return heard
  const isAsked = await polls.askIn(trx, target, ctx.now(), lagSeconds)
  return isAsked ? `${heard} If it happened again, the next poll of the repository finds it.` : null
}

async function keepDelivered(
  trx: Trx,
  target: LedgerOf,
  { moved, earlier, head, at }: { moved: Movement; earlier: PushRow; head: string | null; at: string },
): Promise<void> {
  await ledger.setDelivered(trx, target, moved, earlier, at)
  if (isUnplaced(earlier) && head === moved.from) await moveHead(trx, target, moved.ref, head)
}

async function isLateDeletion(
  trx: Trx,
  target: LedgerOf,
  { ref, from, to }: Movement,
  head: string | null,
): Promise<boolean> {
  if (to !== null || from === null || head === null || head === from) return false
  return ledger.wasAt(trx, target, ref, from)
}

/** Movements that were heard of too early follow. */
async function moveHead(trx: Trx, target: LedgerOf, ref: string, to: string | null): Promise<void> {
  let head = to
  for (let count = 0; count < mostFollowed; count += 1) {
    const next = await ledger.takeNext(trx, target, ref, head)
    if (next === undefined) break
    head = next.commit
  }
  await ledger.setHead(trx, target, ref, head)
}

/** A ref that a poll found elsewhere than its head; `to` null: it was not there. */
export interface Found {
  ref: string
  to: string | null
  tagObject: string | null
}

/** `known`: nothing is to be built. `undecided`: the answer may be older than a delivery. */
type Judgement = 'known' | 'undecided' | { from: string | null; isOrdered: boolean }

export async function judge(trx: Trx, target: LedgerOf, found: Found, askedAt: Date): Promise<Judgement> {
  const { ref, to, tagObject } = found
  const head = await ledger.findHead(trx, target, ref)
  if (isAtHead(found, head)) return 'known'
  const since = new Date(askedAt.getTime() - lagSeconds * 1000).toISOString()
  const commits = [to ?? [], tagObject ?? []].flat()
  const { isRecent, isKnown, unordered } = await ledger.findFacts(trx, target, ref, { commits, since })
  if (isRecent && (isKnown || to === null)) return 'undecided'
  if (unordered === null) return { from: head, isOrdered: !isRecent }
  await ledger.setOrdered(trx, target, ref, unordered)
  await ledger.setHead(trx, target, ref, tagObject ?? to)
  return 'known'
}

export const isAtHead = ({ to, tagObject }: Found, head: string | null): boolean =>
  head === to || (head !== null && head === tagObject)

/** Stores what a poll found, after its build was made. */
export async function keepFound(
  trx: Trx,
  target: LedgerOf,
  { ref, to, tagObject }: Found,
  push: Pick<ledger.NewPush, 'from' | 'isOrdered' | 'foundBy' | 'at' | 'buildNumber'>,
): Promise<void> {
  const isTag = tagObject !== null
  await ledger.insertPush(trx, target, {
    ...push,
    ref,
    to: tagObject ?? to,
    tagCommit: isTag ? to : null,
    isDelivered: false,
  })
  if (push.isOrdered) await moveHead(trx, target, ref, tagObject ?? to)
}
