// Asks repositories for news, where nobody tells. What has moved since the last time is taken in as a push would be;
// each ref is one transaction with the build it leads to, so that it is built once, whatever is cut off.
import type { Context } from '../../context.ts'
import { carryOut } from '../../conductor/act.ts'
import { inTransaction } from '../../db/transaction.ts'
import { newId } from '../../lib/ids.ts'
import { joinUserinfo } from '../../lib/userinfo.ts'
import { runConcurrently } from '../../tasks/run-concurrently.ts'
import { locate } from '../pipelines/provider.ts'
import { accessToken } from '../repository_connections/access-token.ts'
import { TokenRefused } from '../repository_connections/installation-token.ts'
import * as connections from '../repository_connections/queries.ts'
import { kindOf, type HostKind } from '../repository_connections/rules.ts'
import type { Tiding } from './event.ts'
import { isRefName, readRef, strangeRef } from './fields.ts'
import { lsRemote, type RemoteRefs } from './ls-remote.ts'
import * as polls from './poll-queries.ts'
import type { Claimed } from './poll-queries.ts'
import { takeIn } from './receive.ts'

const mostAtOnce = 8
/** What has moved beyond that is taken in the next time. */
const mostMoves = 200

/** One round: all that are due. */
export async function pollRepositories(ctx: Context, stopping: AbortSignal): Promise<void> {
  await polls.followSettings(ctx.db, ctx.now().toISOString())
  await runConcurrently({
    most: mostAtOnce,
    stopping,
    claim: (room) => polls.claimDue(ctx.db, ctx.now().toISOString(), newId(), room),
    work: (claimed) => poll(ctx, claimed),
    failed: (error) => ctx.log.error({ err: error }, 'A repository could not be polled.'),
  })
}

async function poll(ctx: Context, claimed: Claimed): Promise<void> {
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

/** Where there is no token to be had, the repository may be open to everybody. */
async function ask(ctx: Context, claimed: Claimed): Promise<RemoteRefs> {
  const found = await credentialsFor(ctx, claimed).catch((error: unknown) => {
    if (error instanceof TokenRefused) return error
    throw error
  })
  const isRefused = found instanceof TokenRefused
  const remote = await lsRemote(addressOf(ctx, claimed), {
    allow: ctx.config.outboundAllow.join(' '),
    directories: ctx.config.pollDirectories,
    credentials: isRefused ? null : found,
  })
  return isRefused && !remote.ok ? { ok: false, reason: found.message } : remote
}

/** With the name and password that it was given with. */
function addressOf({ keys }: Context, claimed: Claimed): string {
  const { repository, userinfo_sealed: sealed, userinfo_key_id: keyId } = claimed
  return sealed === null || keyId === null ? repository : joinUserinfo(repository, keys.open(sealed, keyId))
}

/** `to` null: it is gone. */
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

/** False: somebody else polls the repository by now, or nobody does any more. */
async function takeMove(ctx: Context, claimed: Claimed, { ref, to }: Move): Promise<boolean> {
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
        tidings: [tidingOf(ref, to)],
      },
    )
  })
  if (taken === null) return false
  await carryOut(ctx, taken.followUps)
  return true
}

function tidingOf(ref: string, to: string | null): Tiding {
  const named = readRef(ref)
  if (named === null) return strangeRef(ref)
  // Who wrote the commit, and why, is told by the first job that checks it out.
  return to === null
    ? { kind: 'deleted', ...named }
    : { kind: 'pushed', ...named, commit: to, message: null, author: null }
}

/** With which name each host takes a token instead of a password. */
const usernames: Readonly<Partial<Record<HostKind, string>>> = {
  github: 'x-access-token',
  gitlab: 'oauth2',
  bitbucket: 'x-token-auth',
  gitea: 'oauth2',
  forgejo: 'oauth2',
}

async function credentialsFor(ctx: Context, claimed: Claimed) {
  const { organization_id: orgId, repository_host: host } = claimed
  const connection = await connections.findByHost(ctx.db, orgId, host)
  const username = connection && usernames[kindOf(connection.type)]
  const isOverTls = /^https:/i.test(claimed.repository)
  if (connection === undefined || username === undefined || !isOverTls) return null
  const repository = locate(claimed.repository)?.path ?? ''
  const password = await accessToken(ctx, connection, repository, { contents: 'read' })
  return password === null ? null : { username, password }
}
