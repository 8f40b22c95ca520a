// Builders for the rows that a test depends on. Each fills in the fields that the test does not name.
import { randomBytes } from 'node:crypto'
import type { AuditType } from '../src/audit/types.ts'
import { sql, type Insertable } from 'kysely'
import { scopes as allScopes } from '../src/auth/scopes.ts'
import type { MemberRole } from '../src/auth/caller.ts'
import type { Feature } from '../src/auth/features.ts'
import type { Tables } from '../src/db/generated/tables.ts'
import { hashToken, newId, newToken } from '../src/lib/ids.ts'
import { createAccessToken } from '../src/resources/people/access-token/create.ts'
import { createMember } from '../src/resources/people/members/create.ts'
import { createOrganization } from '../src/resources/people/organizations/create.ts'
import { flushTokenCaches } from '../src/auth/access-watch.ts'
import { disableFeature, enableFeature } from '../src/resources/people/organizations/enable-feature.ts'
import type { TestApp } from './app.ts'

const operator = { kind: 'operator', command: 'test' } as const

export const unique = (prefix: string): string => `${prefix}-${randomBytes(4).toString('hex')}`

export interface TestOrganization {
  id: string
  slug: string
  name: string
  /** `/v2/organizations/<slug>` */
  path: string
}

export async function anOrganization(
  app: TestApp,
  given: { slug?: string; name?: string } = {},
): Promise<TestOrganization> {
  const slug = given.slug ?? unique('org')
  const org = await createOrganization(app.db, operator, { slug, name: given.name ?? slug })
  return { ...org, path: `/v2/organizations/${slug}` }
}

export async function withFeature(app: TestApp, org: TestOrganization, feature: Feature): Promise<void> {
  await enableFeature(app.db, operator, org.slug, feature)
  await flushTokenCaches(app.db)
}

export async function withoutFeature(app: TestApp, org: TestOrganization, feature: Feature): Promise<void> {
  await disableFeature(app.db, operator, org.slug, feature)
  await flushTokenCaches(app.db)
}

export interface TestUser {
  id: string
  email: string
  name: string
  /** With every scope, in every organization of the user. */
  token: string
}

/**
 * One statement inserts user, membership and token, since most tests need one. It joins no default teams and writes no
 * audit event; `aNewcomer` does.
 */
export async function aMember(
  app: TestApp,
  org: TestOrganization,
  { role = 'member', name = 'Ada Example' }: { role?: MemberRole; name?: string } = {},
): Promise<TestUser> {
  const id = newId()
  const email = `${unique('user')}@example.com`
  const token = newToken('mrt_')
  await sql`
    with made as (insert into users (id, email, name) values (${id}, ${email}, ${name})),
    joined as (
      insert into organization_members (organization_id, user_id, role) values (${org.id}, ${id}, ${role}))
    insert into api_access_tokens (id, user_id, token_hash, description, scopes)
    values (${newId()}, ${id}, ${hashToken(token)}, 'for a test', ${allScopes})`.execute(app.db)
  return { id, email, name, token }
}

/** A member added by the server's own code. The user may exist already. */
export async function aNewcomer(
  app: TestApp,
  org: TestOrganization,
  { email = `${unique('user')}@example.com`, name = 'Ada Example' }: { email?: string; name?: string } = {},
): Promise<TestUser> {
  const organizationSlug = org.slug
  const member = { email, name, organizationSlug, role: 'member', passwordHash: null } as const
  const user = await createMember(app.db, operator, member)
  return { id: user.id, email: user.email, name: user.name, token: await aToken(app, user) }
}

export const anAdmin = (
  app: TestApp,
  org: TestOrganization,
  given: { name?: string } = {},
): Promise<TestUser> => aMember(app, org, { role: 'admin', ...given })

export async function aToken(
  app: TestApp,
  user: { email: string },
  given: {
    scopes?: readonly string[]
    organizations?: readonly TestOrganization[]
    expiresAt?: string
    allowedIpAddresses?: string
  } = {},
): Promise<string> {
  const issued = await createAccessToken(app.db, operator, {
    email: user.email,
    scopes: given.scopes ?? allScopes,
    organizationSlugs: (given.organizations ?? []).map(({ slug }) => slug),
    description: 'for a test',
    expiresAt: given.expiresAt ?? null,
    allowedIpAddresses: given.allowedIpAddresses ?? null,
  })
  return issued.token
}

export async function tokenId(app: TestApp, token: string): Promise<string> {
  const row = await app.db
    .selectFrom('api_access_tokens')
    .select('id')
    .where('token_hash', '=', hashToken(token))
    .executeTakeFirstOrThrow()
  return row.id
}

/** Created over HTTP by an administrator. */
export async function aCluster(
  app: TestApp,
  org: TestOrganization,
  admin: TestUser,
  given: { name?: string; hosted?: boolean; maintainers?: unknown[] } = {},
): Promise<{ id: string; name: string; path: string }> {
  const { hosted, ...body } = given
  const answer = await app.request('POST', `${org.path}/clusters`, {
    token: admin.token,
    body: { name: unique('cluster'), ...body },
  })
  if (answer.status !== 201) throw new Error(`Could not create a cluster: ${answer.text}`)
  const [id, name] = [String(answer.body.id), String(answer.body.name)]
  if (hosted) await app.db.updateTable('clusters').set({ hosted }).where('id', '=', id).execute()
  return { id, name, path: `${org.path}/clusters/${id}` }
}

/** Created over HTTP by someone who may manage the cluster. */
export async function aQueue(
  app: TestApp,
  cluster: { path: string },
  manager: TestUser,
  given: { key?: string; price_per_minute?: number; hostedAgents?: { instanceShape: string } } = {},
): Promise<{ id: string; key: string; path: string }> {
  const answer = await app.request('POST', `${cluster.path}/queues`, {
    token: manager.token,
    body: { key: unique('queue'), ...given },
  })
  if (answer.status !== 201) throw new Error(`Could not create a queue: ${answer.text}`)
  const [id, key] = [String(answer.body.id), String(answer.body.key)]
  return { id, key, path: `${cluster.path}/queues/${id}` }
}

/** Created over HTTP by an administrator. */
export async function aTeam(
  app: TestApp,
  org: TestOrganization,
  admin: TestUser,
  given: Record<string, unknown> = {},
): Promise<{ id: string; name: string; slug: string; path: string }> {
  const answer = await app.request('POST', `${org.path}/teams`, {
    token: admin.token,
    body: { name: unique('team'), ...given },
  })
  if (answer.status !== 201) throw new Error(`Could not create a team: ${answer.text}`)
  const [id, name, slug] = [answer.body.id, answer.body.name, answer.body.slug].map(String)
  return { id: id ?? '', name: name ?? '', slug: slug ?? '', path: `${org.path}/teams/${id}` }
}

/** Adds a member of the organization to a team, over HTTP. */
export async function inTeam(
  app: TestApp,
  team: { path: string },
  admin: TestUser,
  user: { id: string },
  role: 'member' | 'maintainer' = 'member',
): Promise<void> {
  const body = { user_id: user.id, role }
  const answer = await app.request('POST', `${team.path}/members`, { token: admin.token, body })
  if (answer.status !== 201) throw new Error(`Could not add to a team: ${answer.text}`)
}

/** The audit events of one type, oldest first. */
export async function auditTrail(
  app: TestApp,
  org: TestOrganization,
  type: AuditType,
): Promise<Array<{ actor: unknown; subject: unknown; data: unknown }>> {
  return app.db
    .selectFrom('audit_events')
    .select(['actor', 'subject', 'data'])
    .where('organization_id', '=', org.id)
    .where('type', '=', type)
    .orderBy('occurred_at')
    .orderBy('id')
    .execute()
}

/** Inserted directly, in the organization's first cluster, for tests that need no particular pipeline. */
export async function aPipeline(
  app: TestApp,
  org: TestOrganization,
  configuration: string,
  given: Partial<Insertable<Tables['pipelines']>> = {},
): Promise<{ id: string; slug: string; path: string }> {
  const id = newId()
  const slug = given.slug ?? unique('pipeline')
  const cluster = await app.db
    .selectFrom('clusters')
    .select('id')
    .where('organization_id', '=', org.id)
    .orderBy('created_at')
    .executeTakeFirst()
  await app.db
    .insertInto('pipelines')
    .values({
      id,
      organization_id: org.id,
      cluster_id: cluster?.id ?? null,
      slug,
      name: slug,
      repository: 'https://git.example.com/acme/app.git',
      configuration,
      webhook_token: randomBytes(25).toString('hex'),
      badge_token: randomBytes(25).toString('hex'),
      ...given,
    })
    .execute()
  return { id, slug, path: `${org.path}/pipelines/${slug}` }
}
