// The ledger has the commits of pull requests too, so that one of which no delivery told is built once. Unlike those of branches
// they have no order: a commit of a pull request that was built is not built again by a reconcile.
import type { FoundBy } from '../conductor/build.ts'
import type { Trx } from '../db/pool.ts'
import type { HostEvent, PullRequestChanged } from '../source-hosts/events.ts'
import * as ledger from './ledger-queries.ts'
import type { LedgerOf } from './ledger-queries.ts'
import { takeUndelivered } from './pull-queries.ts'

/** No branch or tag has such a name. */
const refOf = (number: string) => `refs/pull/${number}/head`

const isOfCommit = ({ reason }: PullRequestChanged) =>
  reason === 'opened' || reason === 'pushed' || reason === 'reopened'

/** The number of the build that a reconcile has made of the commit; null: the delivery is taken like any other. */
export async function findReconciled(
  trx: Trx,
  target: LedgerOf,
  event: HostEvent,
  at: string,
): Promise<number | null> {
  if (event.kind !== 'pull_request' || event.pull === null || !isOfCommit(event)) return null
  return takeUndelivered(trx, target, refOf(event.number), event.pull.commit, at)
}

export async function isKnownCommit(
  trx: Trx,
  target: LedgerOf,
  number: string,
  commit: string,
): Promise<boolean> {
  const { isKnown } = await ledger.findFacts(trx, target, refOf(number), {
    commits: [commit],
    since: new Date(0).toISOString(),
  })
  return isKnown
}

export async function keepPullBuild(
  trx: Trx,
  target: LedgerOf,
  event: HostEvent,
  { foundBy, at, buildNumber }: { foundBy: FoundBy; at: string; buildNumber: number | null },
): Promise<void> {
  if (event.kind !== 'pull_request' || event.pull === null || !isOfCommit(event)) return
  await ledger.insertPush(trx, target, {
    ref: refOf(event.number),
    from: null,
    to: event.pull.commit,
    tagCommit: null,
    foundBy,
    at,
    isDelivered: foundBy === 'webhook',
    isOrdered: true,
    buildNumber,
  })
}
