// Polls repositories whose hosts send no webhooks. A ref that has moved since the last poll is treated as a push. The ref
// and its build are stored in one transaction, so each commit is built once even if a process dies.
import type { Context } from '../context.ts'
import { carryOut } from '../conductor/act.ts'
import { eachBatchApart } from '../db/each-row.ts'
import { inTransaction } from '../db/transaction.ts'
import { newId } from '../lib/ids.ts'
import { joinUserinfo } from '../lib/userinfo.ts'
import { enqueueAll } from '../tasks/enqueue.ts'
import { findDeployKey } from '../resources/pipelines/deploy_key/open.ts'
import { findReading } from '../resources/pipelines/repository_connections/reading.ts'
import type { HostEvent } from '../source-hosts/events.ts'
import { isRefName, readRef, unknownRef } from '../source-hosts/fields.ts'
import { lsRemote, type RemoteRefs } from './ls-remote.ts'
import * as polls from './poll-queries.ts'
import type { ClaimedPoll, PollClaim } from './poll-queries.ts'
import { takeIn } from './receive.ts'

/** Further moved refs wait for the next poll. */
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
  const remote = await ask(ctx, claimed)
  if (!remote.ok) return polls.recordError(ctx.db, claimed, remote.reason)
  const refs = new Map(
    [...remote.refs].filter(([ref]) => isRefName(ref.replace(/^refs\/(heads|tags)\//, ''))),
  )
  if (claimed.polled_at === null) return polls.keepAll(ctx.db, claimed, refs, ctx.now().toISOString())
  for (const move of movesOf(await polls.listRefs(ctx.db, claimed), refs).slice(0, mostMoves)) {
    const isOurs = await takeMove(ctx, claimed, move)
    if (!isOurs) return
  }
  await polls.recordPolled(ctx.db, claimed, ctx.now().toISOString())
}

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

/** `to` null: the ref was deleted. */
interface Move {
  ref: string
  to: string | null
}

function movesOf(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): Move[] {
  const moved = [...after]
    .filter(([ref, commit]) => before.get(ref) !== commit)
    .map(([ref, to]) => ({ ref, to }))
  const gone = [...before.keys()].filter((ref) => !after.has(ref)).map((ref) => ({ ref, to: null }))
  return [...moved, ...gone]
}

/** False: another process has claimed the poll, or polling was turned off. */
async function takeMove(ctx: Context, claimed: ClaimedPoll, { ref, to }: Move): Promise<boolean> {
  const taken = await inTransaction(ctx.db, async (trx) => {
    if (!(await polls.holdClaim(trx, claimed))) return null
    await polls.keepRef(trx, claimed, ref, to)
    return takeIn(
      trx,
      ctx,
      { id: claimed.pipeline_id, organization_id: claimed.organization_id },
      {
        host: 'git',
        event: 'push',
        action: null,
        id: null,
        repositories: [],
        events: [eventOf(ref, to)],
        env: {},
      },
    )
  })
  if (taken === null) return false
  await carryOut(ctx, taken.followUps)
  return true
}

function eventOf(ref: string, to: string | null): HostEvent {
  const named = readRef(ref)
  if (named === null) return unknownRef(ref)
  // The first job that checks the commit out reports its author and message.
  return to === null
    ? { kind: 'deleted', ...named }
    : { kind: 'pushed', ...named, commit: to, message: null, author: null }
}
