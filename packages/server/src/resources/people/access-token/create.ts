import { sql } from 'kysely'
import { recordAudit, type Origin } from '../../../audit/record.ts'
import { isScope, scopes as allScopes } from '../../../auth/scopes.ts'
import type { Db } from '../../../db/pool.ts'
import { inTransaction, violatedUnique } from '../../../db/transaction.ts'
import { notFound, validationFailed } from '../../../lib/errors.ts'
import { hashToken, newId, newToken } from '../../../lib/ids.ts'
import { readRanges } from '../../../lib/ip-ranges.ts'

export interface AccessTokenRequest {
  email: string
  scopes: readonly string[]
  /** Empty: every organization of the owner. */
  organizationSlugs: readonly string[]
  description: string
  expiresAt: string | null
  allowedIpAddresses: string | null
  /** The program that a person has connected. Absent: the token is for a person. */
  program?: string
  /** The program's client, which may revoke the token. */
  clientHash?: Buffer
  /** Until when the program may renew the token. Absent: it ends when it expires. */
  renewableUntil?: string
  /** For whose token it is given, and with whom it ends. */
  tokenIssuerId?: string
  /** A machine uses it. Absent: a person does. */
  isMachine?: boolean
  /** The token's value, for scripts that must know it in advance. Absent: a random value. */
  value?: string
}

export interface CreatedAccessToken {
  id: string
  /** The table has only its hash. */
  token: string
  user: string
  scopes: string[]
  organizations: string[] | null
  description: string
  expires_at: string | null
}

const mostRanges = 24

export async function createAccessToken(
  db: Db,
  origin: Origin,
  request: AccessTokenRequest,
): Promise<CreatedAccessToken> {
  const unknown = request.scopes.find((scope) => !isScope(scope))
  if (unknown !== undefined)
    throw validationFailed(`there is no scope "${unknown}"; there are ${allScopes.join(', ')}`)
  const scopes = [...new Set(request.scopes)]
  const ranges = readAllowed(request.allowedIpAddresses)
  return inTransaction(db, async (trx) => {
    const memberships = await trx
      .selectFrom('users as u')
      .leftJoin('organization_members as m', 'm.user_id', 'u.id')
      .leftJoin('organizations as o', 'o.id', 'm.organization_id')
      .select(['u.id as user_id', 'u.email', 'u.is_service_account', 'o.id', 'o.slug'])
      .where(sql`lower(u.email)`, '=', request.email.toLowerCase())
      .execute()
    const [first] = memberships
    if (first === undefined) throw notFound(`There is no user "${request.email}".`)
    if (first.is_service_account && request.expiresAt === null)
      throw validationFailed(`${first.email} is a service account, whose tokens must expire`)
    const organizationIds = request.organizationSlugs.map((slug) => {
      const found = memberships.find((membership) => membership.slug === slug)
      if (!found?.id) throw validationFailed(`${first.email} is not a member of "${slug}"`)
      return found.id
    })
    const token = request.value ?? newToken('mrt_')
    const row = {
      id: newId(),
      user_id: first.user_id,
      token_hash: hashToken(token),
      description: request.description,
      scopes,
      organization_ids: organizationIds.length > 0 ? organizationIds : null,
      allowed_ip_addresses: ranges,
      expires_at: request.expiresAt,
      program: request.program ?? null,
      client_hash: request.clientHash ?? null,
      renewable_until: request.renewableUntil ?? null,
      token_issuer_id: request.tokenIssuerId ?? null,
      is_machine: request.isMachine ?? false,
    }
    await trx
      .insertInto('api_access_tokens')
      .values(row)
      .execute()
      .catch((error: unknown) => {
        if (violatedUnique(error) === null) throw error
        throw validationFailed('this token value is in use already')
      })
    for (const organization of memberships) {
      if (
        !organization.id ||
        (row.organization_ids !== null && !row.organization_ids.includes(organization.id))
      )
        continue
      await recordAudit(trx, origin, {
        organizationId: organization.id,
        type: 'API_ACCESS_TOKEN_CREATED',
        subject: { type: 'ApiAccessToken', uuid: row.id, name: row.description },
        data: { user: first.email, scopes, expires_at: row.expires_at, allowed_ip_addresses: ranges },
      })
    }
    return {
      id: row.id,
      token,
      user: first.email,
      scopes,
      organizations: request.organizationSlugs.length > 0 ? [...request.organizationSlugs] : null,
      description: row.description,
      expires_at: row.expires_at,
    }
  })
}

function readAllowed(text: string | null): string | null {
  if (text === null || text.trim() === '') return null
  const read = readRanges(text)
  if (!read.ok) throw validationFailed(`"${read.bad}" is not an address range such as 10.0.0.0/8`)
  if (read.ranges.split(' ').length > mostRanges)
    throw validationFailed(`at most ${mostRanges} address ranges`)
  return read.ranges
}
