// How much of the tables the lists of tests read: what the filter leaves, however many tests the suite has.
import { sql } from 'kysely'
import { beforeAll, expect, it } from 'vitest'
import type { Caller, Organization } from '../../../auth/caller.ts'
import { useOwnApp } from '../../../../test/app.ts'
import { anAdmin, anOrganization } from '../../../../test/builders.ts'
import { plansOf } from '../../../../test/plans.ts'
import { readDays, readFilter, readOrder } from './rules.ts'
import * as tests from './queries.ts'

const app = useOwnApp()
const known = 20_000
const ofFilter = 40
/** Of a test that the filter leaves: itself, its label and its days; of each on the page also its figures. Few labels are read all. */
const mostRead = ofFilter * 50

let suiteId = ''
let org: Organization
let caller: Caller
beforeAll(async () => {
  const made = await anOrganization(app)
  const admin = await anAdmin(app, made)
  org = {
    ...made,
    name: made.slug,
    emoji: null,
    features: [],
    featuresOff: [],
    role: 'admin',
    teams_enabled: false,
    created_at: '',
  }
  caller = {
    user: { id: admin.id, name: admin.name, email: admin.email, created_at: '' },
    token: {
      id: null,
      description: '',
      scopes: [],
      organization_ids: null,
      allowed_ip_addresses: null,
      created_at: '',
      expires_at: null,
      is_machine: false,
    },
    session: null,
    request: { ip: '', userAgent: null },
  }
  const suite = await app.request('POST', `${made.path}/suites`, {
    token: admin.token,
    body: { name: 'Big' },
  })
  suiteId = String(suite.body.id)
  await sql`
    insert into tests (organization_id, suite_id, id, scope, name, first_seen_at, last_seen_at, state)
    select ${made.id}, ${suiteId}, md5(n::text)::uuid, '', 'test ' || n, now(), now(),
      case when n % ${known / ofFilter} = 0 then 'muted' else 'enabled' end
    from generate_series(1, ${known}::int) n`.execute(app.db)
  await sql`
    insert into test_labels (organization_id, suite_id, test_id, name, source, set_at, last_evidence_at)
    select organization_id, suite_id, id, 'flaky', 'detected', now(), now() from tests where state = 'muted'`.execute(
    app.db,
  )
  await sql`
    insert into test_days (suite_id, day, test_id, origin_id, passed_count, failed_count, skipped_count, unknown_count,
      timed_count, duration_sum, duration_min, duration_max, durations)
    select t.suite_id, (now() at time zone 'utc')::date - d, t.id, t.suite_id, 1, 1, 0, 0, 2, 3, 1, 2, '{1, 2}'
    from tests t, generate_series(0, 2) d`.execute(app.db)
  await sql`vacuum analyze tests, test_labels, test_days`.execute(app.db)
})

it.each([{ label: 'flaky' }, { state: 'muted' as const }, { labels: 'flaky', search: 'test' }])(
  'lists the tests with %j without reading the others',
  async (query) => {
    const chosen = { filter: readFilter(query), order: readOrder({}) }
    const days = readDays({}, app.ctx.now())
    const { result, rows } = await plansOf(app, (db) =>
      tests.listOfSuite(db, org, caller, suiteId, days, chosen, { limit: 31, offset: 0 }),
    )
    expect(result).toHaveLength(31)
    expect(rows).toBeLessThan(mostRead)
  },
)
