// Polls repositories whose hosts send no webhooks, and those of the others more seldom, for pushes whose delivery never
// came. A ref that is elsewhere than the ledger says is treated as a push (ledger.ts). The ref and its build are stored in
// one transaction, so each commit is built once even if a process dies.
import type { Context } from '../context.ts'
import { carryOut } from '../conductor/act.ts'
import { eachBatchApart } from '../db/each-row.ts'
import { inTransaction } from '../db/transaction.ts'
import { newId } from '../lib/ids.ts'
import { joinUserinfo } from '../lib/userinfo.ts'
import { enqueueAll } from '../tasks/enqueue.ts'
import { findDeployKey } from '../resources/pipelines/deploy_key/open.ts'
import { findReading } from '../resources/pipelines/repository_connections/reading.ts'
import type { FoundBy } from '../conductor/build.ts'
import type { HostEvent } from '../source-hosts/events.ts'
import { isRefName, readRef, unknownRef } from '../source-hosts/fields.ts'
import { isAtHead, judge, keepFound, lagSeconds, type Found } from './ledger.ts'
import { settle } from './ledger-queries.ts'
import { lsRemote, type RemoteRefs } from './ls-remote.ts'
import * as polls from './poll-queries.ts'
import type { ClaimedPoll, PollClaim } from './poll-queries.ts'
import { reconcilePulls } from './pulls.ts'
import { lockTarget } from './queries.ts'
import { builtIn, takeIn } from './receive.ts'

/** Further moved refs wait for the next poll, which then comes soon. */
const mostMoves = 200

/** A poller finds the polls that are due, since intervals are shorter than cron's minute. */
export async function enqueuePolls(ctx: Context): Promise<void> {
  const changed = await polls.listChanged(ctx.db)
  await eachBatchApart(ctx, 'polls_changed', changed, String, (ids) =>
    polls.followSettings(ctx.db, ids, ctx.now().toISOString()),
  )
  await enqueueDue(ctx, { ending: 0 })
}

/** Each poll enqueues the next one that is due, so that many polls do not wait for the poller. */
export async function pollAndContinue(ctx: Context, claim: PollClaim): Promise<void> {
  await pollRepository(ctx, claim)
  await enqueueDue(ctx, { ending: 1 })
}

async function enqueueDue(ctx: Context, { ending }: { ending: number }): Promise<void> {
  const now = ctx.now().toISOString()
  const due = await polls.listDue(ctx.db, now, ending)
  await eachBatchApart(ctx, 'polls', due, String, (ids) =>
    inTransaction(ctx.db, async (trx) => {
      const claimed = await polls.claimDue(trx, ids, { now, claim: newId() })
      const tasks = claimed.map((payload) => ({ payload }))
      await enqueueAll(trx, 'poll_repository', tasks)
    }),
  )
}

export async function pollRepository(ctx: Context, claim: PollClaim): Promise<void> {
  const claimed = await polls.findClaimed(ctx.db, claim)
  if (claimed === undefined) return
  await pollClaimed(ctx, claimed)
  await polls.endLease(ctx.db, claimed)
}

async function pollClaimed(ctx: Context, claimed: ClaimedPoll): Promise<void> {
  const askedAt = ctx.now()
  const remote = await ask(ctx, claimed)
  const isSilent = !remote.ok && remote.isSilent === true
  await polls.noteHost(ctx.db, claimed.repository_host, { isSilent, at: ctx.now().toISOString() })
  if (!remote.ok) return polls.recordError(ctx.db, claimed, remote.reason)
  const refs = new Map(
    [...remote.refs].filter(([ref]) => isRefName(ref.replace(/^refs\/(heads|tags)\//, ''))),
  )
  // Refs that no delivery has named are taken as they are.
  if (claimed.polled_at === null) await polls.keepAll(ctx.db, claimed, refs, ctx.now().toISOString())
  const found = compare(await polls.listRefs(ctx.db, claimed), refs, remote.tagObjects)
  let isUndecided = false
  for (const move of found.moved.slice(0, mostMoves)) {
    const result = await takeMove(ctx, claimed, move, askedAt)
    if (result === 'lost') return
    isUndecided ||= result === 'undecided'
  }
  const before = new Date(askedAt.getTime() - lagSeconds * 1000).toISOString()
  await settle(ctx.db, pipelineOf(claimed), found.settled, before)
  const refsWaiting = Math.max(0, found.moved.length - mostMoves)
  await polls.recordPolled(ctx.db, claimed, { at: ctx.now().toISOString(), refsWaiting })
  if (refsWaiting > 0) await polls.askIn(ctx.db, pipelineOf(claimed), ctx.now(), 0)
  const pulls = await reconcilePulls(ctx, claimed)
  if (refsWaiting === 0 && (isUndecided || pulls === 'again'))
    await polls.askIn(ctx.db, pipelineOf(claimed), ctx.now(), lagSeconds)
}

const pipelineOf = ({ pipeline_id: id, organization_id }: PollClaim) => ({ id, organization_id })

/** Without a token the repository may still be public. */
async function ask(ctx: Context, claimed: ClaimedPoll): Promise<RemoteRefs> {
  const address = addressOf(ctx, claimed)
  const found = await findReading(ctx, claimed.organization_id, address, 'poll')
  const remote = await lsRemote(address, {
    mayUseSshKeys: await mayUseSshKeys(ctx, claimed),
    sshKey: await findDeployKey(ctx, claimed.organization_id, claimed.pipeline_id),
    allow: ctx.config.outboundAllow.join(' '),
    directories: ctx.config.pollDirectories,
    credentials: found.ok ? found.reading : null,
  })
  return remote.ok || found.ok || found.reason === null ? remote : { ok: false, reason: found.reason }
}

async function mayUseSshKeys({ db, config }: Context, claimed: ClaimedPoll): Promise<boolean> {
  if (config.pollSshOrganizations.length === 0) return false
  const { slug } = await polls.getOrganization(db, claimed.organization_id)
  return config.pollSshOrganizations.includes(slug)
}

function addressOf({ keys }: Context, claimed: ClaimedPoll): string {
  const { repository, userinfo_sealed: sealed, userinfo_key_id: keyId } = claimed
  return sealed === null || keyId === null ? repository : joinUserinfo(repository, keys.open(sealed, keyId))
}

interface Comparison {
  moved: Found[]
  /** Refs that are where the ledger says. */
  settled: string[]
}

function compare(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
  tagObjects: ReadonlyMap<string, string>,
): Comparison {
  const there = [...after].map(([ref, to]) => ({ ref, to, tagObject: tagObjects.get(ref) ?? null }))
  const gone = [...before.keys()].filter((ref) => !after.has(ref))
  const isSettled = (found: Found) => isAtHead(found, before.get(found.ref) ?? null)
  return {
    moved: [
      ...there.filter((found) => !isSettled(found)),
      ...gone.map((ref) => ({ ref, to: null, tagObject: null })),
    ],
    settled: there.filter(isSettled).map(({ ref }) => ref),
  }
}

/** `lost`: another process has claimed the poll, or polling was turned off. */
async function takeMove(
  ctx: Context,
  claimed: ClaimedPoll,
  found: Found,
  askedAt: Date,
): Promise<'taken' | 'undecided' | 'lost'> {
  const pipeline = pipelineOf(claimed)
  const foundBy: FoundBy = claimed.poll_interval_seconds === null ? 'reconcile' : 'poll'
  const taken = await inTransaction(ctx.db, async (trx) => {
    // Deliveries lock in the same order: the pipeline, then its poll.
    await lockTarget(trx, pipeline.organization_id, pipeline.id)
    if (!(await polls.holdClaim(trx, claimed))) return 'lost'
    const judgement = await judge(trx, pipeline, found, askedAt)
    if (judgement === 'undecided') return 'undecided'
    if (judgement === 'known') return { followUps: [] }
    const { outcomes, followUps } = await takeIn(
      trx,
      ctx,
      pipeline,
      {
        host: 'git',
        event: 'push',
        action: null,
        id: null,
        repositories: [],
        events: [eventOf(found, judgement.from)],
        env: {},
      },
      foundBy,
    )
    const [outcome] = outcomes
    const buildNumber = outcome === undefined ? null : builtIn(outcome)
    const at = ctx.now().toISOString()
    await keepFound(trx, pipeline, found, { ...judgement, foundBy, at, buildNumber })
    return { followUps }
  })
  if (typeof taken === 'string') return taken
  await carryOut(ctx, taken.followUps)
  return 'taken'
}

function eventOf({ ref, to }: Found, before: string | null): HostEvent {
  const named = readRef(ref)
  if (named === null) return unknownRef(ref)
  // The first job that checks the commit out reports its author and message.
  return to === null
    ? { kind: 'deleted', ...named, before }
    : { kind: 'pushed', ...named, before, after: to, commit: to, message: null, author: null }
}
