// Mutes, skips and enables tests: by hand, by the rule of a suite, and at the end of a quarantine. Each with its audit event.
// The server decides no exit status: clients ask for the list.
import { sql } from 'kysely'
import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { Caller, Organization } from '../../../auth/caller.ts'
import type { Context, RequestContext } from '../../../context.ts'
import { eachRowApart, mayBeTried } from '../../../db/each-row.ts'
import type { Trx } from '../../../db/pool.ts'
import { publishTests, type TestEvent } from '../../../events/tests.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { forbidden, validationFailed } from '../../../lib/errors.ts'
import * as suites from '../suites/queries.ts'
import * as tests from './queries.ts'
import type { QuarantineBody } from './schema.ts'

const dayMs = 24 * 60 * 60 * 1000
const defaultDays = 14
/** Only administrators may go beyond. */
const mostDays = 90

export async function quarantineTest(
  { ctx, org, caller }: RequestContext,
  suiteSlug: string,
  testId: string,
  state: 'muted' | 'skipped',
  body: QuarantineBody,
): Promise<void> {
  const now = ctx.now()
  await inTransaction(ctx.db, async (trx) => {
    const suite = await holdSuite(trx, org, caller, suiteSlug)
    const before = await tests.lockInSuite(trx, org, caller, suite.id, testId)
    const ownerId = await findOwner(trx, org.id, body.owner_id ?? caller.user.id)
    const after: State = {
      state,
      quarantined_at: now.toISOString(),
      quarantined_by: caller.user.id,
      quarantine_owner_id: ownerId,
      quarantine_reason: body.reason?.trim() || null,
      quarantine_expires_at: readExpiry(body.expires_at, org, now),
    }
    const event = before.state === state ? null : (`test.${state}` as const)
    await write(trx, suite, before, after, { caller, event, at: now.toISOString() })
  })
}

export async function enableTest(
  { ctx, org, caller }: RequestContext,
  suiteSlug: string,
  testId: string,
): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const suite = await holdSuite(trx, org, caller, suiteSlug)
    const before = await tests.lockInSuite(trx, org, caller, suite.id, testId)
    if (before.state === 'enabled') return
    const at = ctx.now().toISOString()
    await write(trx, suite, before, enabled, { caller, event: 'test.enabled', at })
  })
}

async function holdSuite(
  trx: Trx,
  org: Organization,
  caller: Caller,
  slug: string,
): Promise<suites.SuiteRow> {
  const suite = await suites.getBySlug(trx, org, caller, slug)
  await suites.holdInOrg(trx, org.id, suite.id)
  if (!suite.may_quarantine) throw forbidden()
  return suite
}

async function findOwner(trx: Trx, orgId: string, userId: string): Promise<string> {
  const { rows } = await sql`
    select from organization_members where organization_id = ${orgId} and user_id = ${userId}`.execute(trx)
  if (rows.length === 0) throw validationFailed('owner_id is no member of this organization')
  return userId
}

function readExpiry(given: string | null | undefined, org: Organization, now: Date): string | null {
  const isAdmin = org.role === 'admin'
  if (given === undefined) return new Date(now.getTime() + defaultDays * dayMs).toISOString()
  if (given === null) {
    if (!isAdmin) throw validationFailed('expires_at may be null for administrators only')
    return null
  }
  const at = new Date(given)
  if (!(at > now) || at.getUTCFullYear() > 9999) throw validationFailed('expires_at must be in the future')
  if (!isAdmin && at.getTime() > now.getTime() + mostDays * dayMs) {
    throw validationFailed(`expires_at may be at most ${mostDays} days from now`)
  }
  return at.toISOString()
}

interface State {
  state: 'enabled' | 'muted' | 'skipped'
  quarantined_at: string | null
  quarantined_by: string | null
  quarantine_owner_id: string | null
  quarantine_reason: string | null
  quarantine_expires_at: string | null
}

const enabled: State = {
  state: 'enabled',
  quarantined_at: null,
  quarantined_by: null,
  quarantine_owner_id: null,
  quarantine_reason: null,
  quarantine_expires_at: null,
}

const auditTypes = { enabled: 'TEST_ENABLED', muted: 'TEST_MUTED', skipped: 'TEST_SKIPPED' } as const

interface Change {
  /** Null: the server itself changes it. */
  caller: Caller | null
  /** Null: services hear nothing of it. */
  event: TestEvent | null
  at: string
}

async function write(
  trx: Trx,
  { organization_id: orgId, id: suiteId }: { organization_id: string; id: string },
  test: { id: string; scope: string; name: string; state: string },
  after: State,
  { caller, event, at }: Change,
): Promise<void> {
  await trx
    .updateTable('tests')
    .set({ ...after })
    .where('organization_id', '=', orgId)
    .where('suite_id', '=', suiteId)
    .where('id', '=', test.id)
    .execute()
  if (event !== null) {
    const changed = { organizationId: orgId, suiteId, ids: [test.id] }
    await publishTests(trx, event, changed, caller?.user.id ?? null, at)
  }
  await recordAudit(trx, caller === null ? { kind: 'system' } : byCaller(caller), {
    organizationId: orgId,
    type: auditTypes[after.state],
    subject: { type: 'Test', uuid: test.id, name: `${test.scope} ${test.name}`.trim().slice(0, 255) },
    data: {
      suite_id: suiteId,
      state: after.state,
      ...(after.state === 'enabled'
        ? {}
        : {
            owner_id: after.quarantine_owner_id,
            reason: after.quarantine_reason,
            expires_at: after.quarantine_expires_at,
          }),
      previous: { state: test.state },
    },
  })
}

/** For tests that have become flaky. One that is in quarantine stays as it is. */
export async function quarantineByRule(
  trx: Trx,
  suite: { id: string; organizationId: string },
  ids: readonly string[],
  { state, at, endsAt }: { state: 'muted' | 'skipped'; at: string; endsAt: string },
): Promise<void> {
  const { rows } = await sql<{ id: string; scope: string; name: string; state: string }>`
    select id, scope, name, state from tests
    where suite_id = ${suite.id} and id = any (${ids}::uuid[]) and state = 'enabled' order by id for no key update`.execute(
    trx,
  )
  const after: State = {
    ...enabled,
    state,
    quarantined_at: at,
    quarantine_reason: 'The test has become flaky.',
    quarantine_expires_at: endsAt,
  }
  const address = { organization_id: suite.organizationId, id: suite.id }
  for (const test of rows)
    await write(trx, address, test, after, { caller: null, event: `test.${state}`, at })
}

const endedAtOnce = 1000

/** A test whose quarantine is over fails again. */
export async function endQuarantines(ctx: Context): Promise<void> {
  const now = ctx.now().toISOString()
  const { rows } = await sql<{ organizationId: string; suiteId: string; id: string }>`
    select t.organization_id as "organizationId", t.suite_id as "suiteId", t.id from tests t
    where t.quarantine_expires_at <= ${now} and ${mayBeTried('quarantines', sql`t.suite_id || '/' || t.id`, now)}
    order by t.quarantine_expires_at limit ${endedAtOnce}`.execute(ctx.db)
  await eachRowApart(
    ctx,
    'quarantines',
    rows,
    ({ suiteId, id }) => `${suiteId}/${id}`,
    ({ organizationId, suiteId, id }) =>
      inTransaction(ctx.db, async (trx) => {
        const { rows: due } = await sql<{ id: string; scope: string; name: string; state: string }>`
          select id, scope, name, state from tests
          where organization_id = ${organizationId} and suite_id = ${suiteId} and id = ${id}
            and quarantine_expires_at <= ${now} for no key update`.execute(trx)
        const [test] = due
        if (test === undefined) return
        const suite = { organization_id: organizationId, id: suiteId }
        await write(trx, suite, test, enabled, { caller: null, event: 'test.quarantine_expired', at: now })
      }),
  )
}
