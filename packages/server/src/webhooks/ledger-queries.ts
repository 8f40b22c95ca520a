import { sql, type RawBuilder } from 'kysely'
import type { FoundBy } from '../conductor/build.ts'
import { changeRows, type LoopContext } from '../db/each-row.ts'
import type { Db, Trx } from '../db/pool.ts'

/** The ids of a pipeline. */
export interface LedgerOf {
  id: string
  organization_id: string
}

/** `to` null: the ref was deleted. `from` null: it was created, or nobody said where it was. */
export interface Movement {
  ref: string
  from: string | null
  to: string | null
  /** The commit that an annotated tag points to. */
  tagCommit: string | null
}

export interface NewPush extends Movement {
  foundBy: FoundBy
  at: string
  isDelivered: boolean
  /** Whether it is known that nothing has moved the ref since. */
  isOrdered: boolean
  buildNumber: number | null
}

export interface PushRow {
  number: number
  from_commit: string | null
  commit: string | null
  delivered_at: string | null
  is_ordered: boolean
  build_number: number | null
}

const isOf = ({ id, organization_id }: LedgerOf, ref: string) =>
  sql`organization_id = ${organization_id} and pipeline_id = ${id} and ref = ${ref}`

const leadsTo = (commit: string | null): RawBuilder<unknown> =>
  commit === null ? sql`commit is null` : sql`(commit = ${commit} or tag_commit = ${commit})`

/** Null: the ref is not known to exist. */
export async function findHead(db: Db, { id }: LedgerOf, ref: string): Promise<string | null> {
  const { rows } = await sql<{ commit: string }>`
    select commit from polled_refs where pipeline_id = ${id} and ref = ${ref}`.execute(db)
  return rows[0]?.commit ?? null
}

export async function setHead(trx: Trx, { id }: LedgerOf, ref: string, to: string | null): Promise<void> {
  if (to === null) {
    await sql`delete from polled_refs where pipeline_id = ${id} and ref = ${ref}`.execute(trx)
    return
  }
  await sql`
    insert into polled_refs (pipeline_id, ref, commit) values (${id}, ${ref}, ${to})
    on conflict (pipeline_id, ref) do update set commit = excluded.commit`.execute(trx)
}

/** The same movement, or one to the same commit that a poll found and no delivery has named. The same is preferred. */
export async function findSame(
  db: Db,
  target: LedgerOf,
  { ref, from, to }: Movement,
): Promise<PushRow | undefined> {
  const isSame = sql`from_commit is not distinct from ${from}::text`
  const { rows } = await sql<PushRow>`
    select number, from_commit, commit, delivered_at, is_ordered, build_number from repository_pushes
    where ${isOf(target, ref)} and ${leadsTo(to)} and (delivered_at is null or ${isSame})
    order by ${isSame} desc, delivered_at is null desc, number desc limit 1`.execute(db)
  return rows[0]
}

export async function insertPush(trx: Trx, target: LedgerOf, push: NewPush): Promise<void> {
  const { ref, from, to, tagCommit, foundBy, at, isOrdered, buildNumber } = push
  const deliveredAt = push.isDelivered ? at : null
  await sql`
    insert into repository_pushes (pipeline_id, ref, number, organization_id, from_commit, commit, tag_commit,
      found_by, seen_at, delivered_at, is_ordered, build_number)
    select ${target.id}, ${ref}, coalesce(max(number), 0) + 1, ${target.organization_id}, ${from}, ${to},
      ${tagCommit}, ${foundBy}, ${at}, ${deliveredAt}, ${isOrdered}, ${buildNumber}::integer
    from repository_pushes where ${isOf(target, ref)}`.execute(trx)
}

export async function setDelivered(
  trx: Trx,
  target: LedgerOf,
  { ref, from }: Movement,
  { number }: PushRow,
  at: string,
): Promise<void> {
  await sql`
    update repository_pushes set delivered_at = coalesce(delivered_at, ${at}), from_commit = ${from}
    where ${isOf(target, ref)} and number = ${number}`.execute(trx)
}

export async function setBuild(
  trx: Trx,
  target: LedgerOf,
  ref: string,
  { number }: PushRow,
  buildNumber: number | null,
): Promise<void> {
  await sql`
    update repository_pushes set build_number = ${buildNumber}
    where ${isOf(target, ref)} and number = ${number}`.execute(trx)
}

/** The first movement from `head` whose place was unknown; from now on it is known. */
export async function takeNext(
  trx: Trx,
  target: LedgerOf,
  ref: string,
  head: string | null,
): Promise<{ commit: string | null } | undefined> {
  const { rows } = await sql<{ commit: string | null }>`
    update repository_pushes set is_ordered = true
    where ${isOf(target, ref)} and number = (
      select number from repository_pushes
      where ${isOf(target, ref)} and not is_ordered and from_commit is not distinct from ${head}::text
      order by number limit 1)
    returning commit`.execute(trx)
  return rows[0]
}

interface Facts {
  /** Whether a delivery has named the ref since. */
  isRecent: boolean
  /** Whether a movement to or from the commit is stored. */
  isKnown: boolean
  /** The number of a movement to it whose place is unknown. */
  unordered: number | null
}

/** What is known of a ref and the commits that a poll found there. */
export async function findFacts(
  db: Db,
  target: LedgerOf,
  ref: string,
  { commits, since }: { commits: readonly string[]; since: string },
): Promise<Facts> {
  const found = sql`${commits}::text[]`
  const leads = sql`(commit = any (${found}) or tag_commit = any (${found}))`
  const { rows } = await sql<Facts>`
    select coalesce(bool_or(delivered_at > ${since}), false) as "isRecent",
      coalesce(bool_or(${leads} or from_commit = any (${found})), false) as "isKnown",
      max(number) filter (where not is_ordered and ${leads}) as unordered
    from repository_pushes where ${isOf(target, ref)}`.execute(db)
  return rows[0] ?? { isRecent: false, isKnown: false, unordered: null }
}

/** Whether the ref is known to have been there before its newest movement. */
export async function wasAt(db: Db, target: LedgerOf, ref: string, commit: string): Promise<boolean> {
  const { rows } = await sql`
    select from repository_pushes
    where ${isOf(target, ref)} and is_ordered and (commit = ${commit} or from_commit = ${commit}) limit 1`.execute(
    db,
  )
  return rows.length > 0
}

export async function setOrdered(trx: Trx, target: LedgerOf, ref: string, upTo: number): Promise<void> {
  await sql`
    update repository_pushes set is_ordered = true
    where ${isOf(target, ref)} and not is_ordered and number <= ${upTo}`.execute(trx)
}

/** Movements of refs that a poll found at their heads are past. */
export async function settle(
  db: Db,
  { id, organization_id }: LedgerOf,
  refs: readonly string[],
  before: string,
): Promise<void> {
  await sql`
    update repository_pushes set is_ordered = true
    where organization_id = ${organization_id} and pipeline_id = ${id} and not is_ordered
      and seen_at < ${before} and ref = any (${refs})`.execute(db)
}

/** Longer than any host sends a delivery again. */
export const expirePushes = (ctx: LoopContext): Promise<number> =>
  changeRows(ctx, 'repository_pushes', {
    table: 'repository_pushes',
    key: sql`r.pipeline_id, r.ref, r.number`,
    where: sql`r.seen_at < now() - interval '30 days'`,
  })
