// Asks the API of a host for the open pull requests of a repository, after its refs, and builds those commits of which no delivery
// told. Where the list says that nothing changed, the host sends nothing.
import { carryOut } from '../conductor/act.ts'
import type { Context } from '../context.ts'
import { inTransaction } from '../db/transaction.ts'
import { OutboundError, type OutboundResponse } from '../lib/outbound.ts'
import {
  findOfRepository,
  type ConnectionRow,
} from '../resources/pipelines/repository_connections/queries.ts'
import { requestTo } from '../source-hosts/api.ts'
import { pullRequestChanged } from '../source-hosts/events.ts'
import { TokenRefused, type HostToken, type ListedPull, type PullRequestApi } from '../source-hosts/host.ts'
import { hostOfType } from '../source-hosts/hosts.ts'
import { pullsPerPage } from '../source-hosts/pull-requests.ts'
import { hasNextPage } from '../source-hosts/repositories.ts'
import { hostSettings, locate } from '../source-hosts/settings.ts'
import { lagSeconds } from './ledger.ts'
import type { ClaimedPoll, PollClaim } from './poll-queries.ts'
import { holdClaim } from './poll-queries.ts'
import { isKnownCommit, keepPullBuild } from './pull-ledger.ts'
import * as pulls from './pull-queries.ts'
import type { PulledPipeline } from './pull-queries.ts'
import { keepPull, lockTarget } from './queries.ts'
import { builtIn, takeIn } from './receive.ts'

const mostPages = 4
const mostListMs = 20_000
const mostListBytes = 8 * 1024 * 1024
/** Further ones wait for the next time. */
const mostBuilds = 20

/** `again`: the list has more than was taken, or an answer may be older than a delivery. */
export async function reconcilePulls(ctx: Context, claimed: ClaimedPoll): Promise<'done' | 'again'> {
  const found = await pulls.findPulled(ctx.db, claimed)
  if (found === undefined || !wantsPulls(found)) return 'done'
  const connection = await findOfRepository(ctx.db, claimed.organization_id, found.repository)
  const host = connection && hostOfType(connection.type)
  if (connection === undefined || !host?.pullRequests || !host.token) return 'done'
  const askedAt = ctx.now()
  const listed = await listAll(ctx, connection, {
    token: host.token,
    api: host.pullRequests,
    repository: locate(found.repository)?.path ?? '',
    etag: found.pulls_etag,
  })
  switch (listed.kind) {
    case 'unable':
      return 'done'
    case 'unchanged':
      await pulls.recordPulls(ctx.db, claimed, { etag: found.pulls_etag, readAt: askedAt.toISOString() })
      return 'done'
    case 'refused':
      await pulls.recordPullsError(ctx.db, claimed, listed.reason)
      return 'done'
    case 'listed':
      return takeAll(ctx, claimed, { connection, found, askedAt }, listed)
  }
}

function wantsPulls({ provider_settings: set }: PulledPipeline): boolean {
  const { build_pull_requests: isOn, trigger_mode: mode } = hostSettings(set)
  return isOn && mode === 'code'
}

interface Wanted {
  token: HostToken
  api: PullRequestApi
  repository: string
  etag: string | null
}

type Listing =
  | { kind: 'unable' | 'unchanged' }
  | { kind: 'refused'; reason: string }
  | { kind: 'listed'; list: ListedPull[]; isWhole: boolean; etag: string | null }

async function listAll(ctx: Context, connection: ConnectionRow, wanted: Wanted): Promise<Listing> {
  try {
    return await listPages(ctx, connection, wanted)
  } catch (error) {
    if (error instanceof TokenRefused || error instanceof OutboundError)
      return { kind: 'refused', reason: error.message }
    throw error
  }
}

async function listPages(ctx: Context, connection: ConnectionRow, wanted: Wanted): Promise<Listing> {
  const { token: hostToken, api, repository } = wanted
  const { permissions = {} } = api.listRequest(repository, 1)
  const token = await hostToken.find(ctx, connection, repository, permissions)
  if (token === null) return { kind: 'unable' }
  const list: ListedPull[] = []
  const deadline = performance.now() + mostListMs
  let etag: string | null = null
  for (let page = 1; page <= mostPages && performance.now() < deadline; page += 1) {
    const headers = hostToken.apiHeaders(token)
    const condition = page === 1 && wanted.etag !== null ? { 'If-None-Match': wanted.etag } : {}
    const request = requestTo(
      connection.api_url,
      { ...headers, ...condition },
      api.listRequest(repository, page),
    )
    const answer = await ctx.outbound.send({ ...request, keptBytes: mostListBytes })
    if (answer.status === 304) return { kind: 'unchanged' }
    if (answer.status === 401) hostToken.evict(ctx, connection, repository, permissions)
    if (answer.status !== 200) return { kind: 'refused', reason: refusalOf(answer) }
    if (answer.isCut) return { kind: 'refused', reason: tooMuch }
    const body = parse(answer)
    const read = api.readList(body)
    if (read === null) return { kind: 'refused', reason: 'The host answered with no list of pull requests.' }
    list.push(...read)
    if (page === 1) etag = answer.headers['etag']?.slice(0, 500) ?? null
    const isLast = !hasNextPage(answer, body) && read.length < pullsPerPage
    // The condition is about the first page only.
    if (isLast) return { kind: 'listed', list, isWhole: true, etag: page === 1 ? etag : null }
  }
  return { kind: 'listed', list, isWhole: false, etag: null }
}

const tooMuch = 'The host sends its list of pull requests too slowly, or it is too long.'

function refusalOf({ status, body }: OutboundResponse): string {
  const words = body.toString().slice(0, 300).replace(/\s+/g, ' ')
  return `The host answered ${status}${words === '' ? '' : `: ${words}`}`
}

function parse({ body }: OutboundResponse): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return null
  }
}

interface Taking {
  connection: ConnectionRow
  found: PulledPipeline
  askedAt: Date
}

async function takeAll(
  ctx: Context,
  claimed: ClaimedPoll,
  taking: Taking,
  { list, isWhole, etag }: { list: ListedPull[]; isWhole: boolean; etag: string | null },
): Promise<'done' | 'again'> {
  const pipeline = pipelineOf(claimed)
  let built = 0
  let isAgain = false
  for (const listed of list) {
    if (built >= mostBuilds) {
      isAgain = true
      break
    }
    const taken = await takeOne(ctx, claimed, taking, listed)
    if (taken === 'lost') return 'done'
    if (taken === 'built') built += 1
    isAgain ||= taken === 'undecided'
  }
  const before = new Date(taking.askedAt.getTime() - lagSeconds * 1000).toISOString()
  if (isWhole)
    await pulls.deleteClosed(
      ctx.db,
      pipeline,
      list.map(({ number }) => number),
      before,
    )
  const readAt = taking.askedAt.toISOString()
  // Without the ETag the whole list is read the next time.
  await pulls.recordPulls(ctx.db, claimed, { etag: isAgain ? null : etag, readAt })
  return isAgain ? 'again' : 'done'
}

const pipelineOf = ({ pipeline_id: id, organization_id }: PollClaim) => ({ id, organization_id })

async function takeOne(
  ctx: Context,
  claimed: ClaimedPoll,
  { connection, found, askedAt }: Taking,
  { number, pull }: ListedPull,
): Promise<'built' | 'known' | 'undecided' | 'lost'> {
  const pipeline = pipelineOf(claimed)
  const taken = await inTransaction(ctx.db, async (trx) => {
    // Deliveries lock in the same order: the pipeline, then its poll.
    const target = await lockTarget(trx, pipeline.organization_id, pipeline.id)
    if (target === undefined || !(await holdClaim(trx, claimed))) return 'lost'
    const kept = await pulls.findKept(trx, pipeline, number)
    if (kept?.commit === pull.commit) return 'known'
    // The host may answer for a while as if a push that it delivered had not happened.
    if (kept !== undefined && Date.parse(kept.updated_at) > askedAt.getTime() - lagSeconds * 1000)
      return 'undecided'
    const at = ctx.now().toISOString()
    const isOld = kept === undefined && found.pulls_read_at === null
    if (isOld || (await isKnownCommit(trx, pipeline, number, pull.commit))) {
      await keepPull(trx, target, number, pull, at)
      return 'known'
    }
    const event = pullRequestChanged(Number(number), kept === undefined ? 'opened' : 'pushed', pull)
    const { outcomes, followUps } = await takeIn(
      trx,
      ctx,
      pipeline,
      {
        host: connection.type,
        event: 'pull_request',
        action: null,
        id: null,
        repositories: [],
        events: [event],
        env: {},
      },
      'reconcile',
    )
    const [outcome] = outcomes
    const buildNumber = outcome === undefined ? null : builtIn(outcome)
    await keepPullBuild(trx, pipeline, event, { foundBy: 'reconcile', at, buildNumber })
    return { followUps, isBuilt: buildNumber !== null }
  })
  if (typeof taken === 'string') return taken
  await carryOut(ctx, taken.followUps)
  return taken.isBuilt ? 'built' : 'known'
}
