import { sql } from 'kysely'
import type { MemberRole } from '../../../auth/caller.ts'
import { changeRows, type LoopContext } from '../../../db/each-row.ts'
import type { Db, Trx } from '../../../db/pool.ts'
import { violatedUnique } from '../../../db/transaction.ts'
import type { Position } from '../../../http/cursors.ts'
import { notFound, validationFailed } from '../../../lib/errors.ts'
import { hashToken } from '../../../lib/ids.ts'
import type { SsoMode } from '../schema.ts'
import type { TeamMembership } from '../team-members/queries.ts'
import { userJson, type UserRow } from '../user/queries.ts'
import type { InvitationState } from './schema.ts'

export interface InvitationRow {
  id: string
  email: string
  state: InvitationState
  role: MemberRole
  sso_mode: SsoMode
  teams: Array<{ id: string; slug: string }>
  created_at: string
  created_by: UserRow | null
  accepted_at: string | null
  accepted_by: UserRow | null
  revoked_at: string | null
  revoked_by: UserRow | null
  expired_at: string | null
}

// An overdue invitation counts as expired before the background task marks it.
const isPending = sql`(i.state = 'pending' and i.expires_at > now())`
const isOverdue = sql`(i.state = 'pending' and i.expires_at <= now())`

const select = sql`
  select i.id, i.email, case when ${isOverdue} then 'expired' else i.state end as state, i.role, i.sso_mode,
    coalesce((
      select json_agg(json_build_object('id', t.id, 'slug', t.slug) order by membership.index)
      from jsonb_array_elements(i.teams) with ordinality as membership (team, index)
      join teams t on t.organization_id = i.organization_id and t.id = (membership.team ->> 'id')::uuid
    ), '[]') as teams,
    i.created_at, ${userJson('creator')} as created_by, i.accepted_at, ${userJson('accepter')} as accepted_by,
    i.revoked_at, ${userJson('revoker')} as revoked_by,
    case when ${isOverdue} then i.expires_at else i.expired_at end as expired_at
  from organization_invitations i
  left join users creator on creator.id = i.created_by
  left join users accepter on accepter.id = i.accepted_by
  left join users revoker on revoker.id = i.revoked_by`

/** Newest first; with `before`, oldest first. */
export async function listPending(
  db: Db,
  orgId: string,
  { after, before, limit }: { after: Position | null; before: Position | null; limit: number },
): Promise<InvitationRow[]> {
  const part =
    after !== null
      ? sql`(i.created_at, i.id) < (${after.at}, ${after.id})`
      : before !== null
        ? sql`(i.created_at, i.id) > (${before.at}, ${before.id})`
        : sql`true`
  const order = before === null ? sql`i.created_at desc, i.id desc` : sql`i.created_at, i.id`
  const { rows } = await sql<InvitationRow>`${select}
    where i.organization_id = ${orgId} and ${isPending} and ${part}
    order by ${order} limit ${limit}`.execute(db)
  return rows
}

export async function getInOrg(db: Db, orgId: string, id: string): Promise<InvitationRow> {
  const { rows } = await sql<InvitationRow>`${select}
    where i.organization_id = ${orgId} and i.id = ${id}`.execute(db)
  const [invitation] = rows
  if (invitation === undefined) throw notFound('No invitation found')
  return invitation
}

/** The given addresses that belong to a member, compared without case. */
export async function listMemberEmails(db: Db, orgId: string, emails: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ email: string }>`
    select given.email from unnest(${emails}::text[]) as given (email)
    join users u on lower(u.email) = lower(given.email)
    join organization_members m on m.organization_id = ${orgId} and m.user_id = u.id`.execute(db)
  return rows.map(({ email }) => email)
}

export async function countPending(db: Db, orgId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from organization_invitations i
    where i.organization_id = ${orgId} and ${isPending}`.execute(db)
  return rows[0]?.count ?? 0
}

export interface NewInvitation {
  id: string
  organization_id: string
  code_hash: Buffer
  email: string
  role: MemberRole
  sso_mode: SsoMode
  teams: readonly TeamMembership[]
  created_by: string
}

const lifetimeDays = 7

export async function insert(trx: Trx, { teams, ...row }: NewInvitation): Promise<void> {
  const expiresAt = sql<string>`now() + make_interval(days => ${lifetimeDays})`
  await trx
    .insertInto('organization_invitations')
    .values({ ...row, teams: JSON.stringify(teams), expires_at: expiresAt })
    .execute()
    .catch((error: unknown) => {
      if (violatedUnique(error) !== 'organization_invitations_pending_key') throw error
      throw validationFailed(`${row.email} is already invited`)
    })
}

interface Accepted extends Pick<InvitationRow, 'id' | 'email' | 'role' | 'sso_mode'> {
  teams: TeamMembership[]
}

export interface OpenInvitation {
  id: string
  email: string
  role: MemberRole
  organization_id: string
  organization_slug: string
  organization_name: string
  /** The name of the inviter. null: the user is deleted. */
  created_by: string | null
  /** Whether the address belongs to a user. */
  has_account: boolean
}

/** The pending invitation with that code, in whichever organization. */
export async function findByCode(db: Db, code: string): Promise<OpenInvitation | undefined> {
  const { rows } = await sql<OpenInvitation>`
    select i.id, i.email, i.role, o.id as organization_id, o.slug as organization_slug, o.name as organization_name,
      creator.name as created_by,
      exists (select from users u where lower(u.email) = lower(i.email)) as has_account
    from organization_invitations i
    join organizations o on o.id = i.organization_id
    left join users creator on creator.id = i.created_by
    where i.code_hash = ${hashToken(code)} and ${isPending}`.execute(db)
  return rows[0]
}

export async function lockInOrg(trx: Trx, orgId: string, id: string): Promise<void> {
  await sql`
    select from organization_invitations where organization_id = ${orgId} and id = ${id} for update`.execute(
    trx,
  )
}

export async function acceptPending(
  trx: Trx,
  orgId: string,
  user: { id: string; email: string },
): Promise<Accepted | undefined> {
  const { rows } = await sql<Accepted>`
    update organization_invitations i set state = 'accepted', accepted_at = now(), accepted_by = ${user.id}
    where i.organization_id = ${orgId} and lower(i.email) = lower(${user.email}) and ${isPending}
    returning i.id, i.email, i.role, i.sso_mode, i.teams`.execute(trx)
  return rows[0]
}

/** Whether the address is invited. */
export async function hasPending(db: Db, orgId: string, email: string): Promise<boolean> {
  const { rows } = await sql`
    select from organization_invitations i
    where i.organization_id = ${orgId} and lower(i.email) = lower(${email}) and ${isPending}`.execute(db)
  return rows.length > 0
}

/** The link with the code before ends. */
export async function renewPending(trx: Trx, orgId: string, id: string, codeHash: Buffer): Promise<boolean> {
  const { rows } = await sql`
    update organization_invitations i
    set code_hash = ${codeHash}, expires_at = now() + make_interval(days => ${lifetimeDays})
    where i.organization_id = ${orgId} and i.id = ${id} and ${isPending}
    returning i.id`.execute(trx)
  return rows.length > 0
}

export async function revokePending(
  trx: Trx,
  orgId: string,
  id: string,
  revokedBy: string,
): Promise<{ id: string; email: string } | undefined> {
  const { rows } = await sql<{ id: string; email: string }>`
    update organization_invitations i set state = 'revoked', revoked_at = now(), revoked_by = ${revokedBy}
    where i.organization_id = ${orgId} and i.id = ${id} and ${isPending}
    returning i.id, i.email`.execute(trx)
  return rows[0]
}

/** In all organizations. Returns how many it marked. */
export const expireOverdue = (ctx: LoopContext): Promise<number> =>
  changeRows(ctx, 'invitations', {
    table: 'organization_invitations',
    key: sql`r.id`,
    where: sql`r.id in (select i.id from organization_invitations i where ${isOverdue})`,
    set: expired,
  })

const expired = sql`state = 'expired', expired_at = expires_at`

export async function expireOverdueInOrg(trx: Trx, orgId: string): Promise<void> {
  await sql`
    update organization_invitations i set ${expired} where ${isOverdue} and i.organization_id = ${orgId}`.execute(
    trx,
  )
}
