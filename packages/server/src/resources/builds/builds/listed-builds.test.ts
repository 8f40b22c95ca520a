// How much of the tables a page of builds reads: what it shows, however many builds there are.
import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { useOwnApp } from '../../../../test/app.ts'
import { anAdmin, anOrganization, aPipeline } from '../../../../test/builders.ts'
import { plansOf } from '../../../../test/plans.ts'
import { narrow } from './narrow.ts'
import { listIds, type Range, type Window } from './listed-builds.ts'
import { readFilter } from './rules.ts'
import type { ListQuery } from './schema.ts'

const app = useOwnApp()
const builds = 20_000
/** A page of 31 is looked for, found and counted; whether few builds ended since a time is seen after 500. */
const mostRead = 650

const ranges: Record<string, Range> = {}
let creator = ''
beforeAll(async () => {
  const [org, other] = [await anOrganization(app), await anOrganization(app)]
  const pipelines = [
    await aPipeline(app, org, 'steps: []'),
    await aPipeline(app, org, 'steps: []'),
    await aPipeline(app, other, 'steps: []'),
  ]
  creator = (await anAdmin(app, org)).id
  const ids = pipelines.map(({ id }) => id)
  await sql`
    insert into builds (id, organization_id, pipeline_id, number, state, blocked_state, commit, branch, source,
      creator_id, created_at, scheduled_at, finished_at)
    select gen_random_uuid(), p.organization_id, p.id, i,
      case when i % 2000 = 0 then 'running' when i % 3000 = 1 then 'blocked' when i % 10 = 3 then 'failed' else 'passed' end,
      case when i % 3000 = 1 then 'passed' end,
      md5((i / 2)::text), case when i % 3 = 0 then 'main' else 'topic-' || i % 150 end, 'api',
      case when i % 20 = 0 then ${creator}::uuid end,
      '2026-01-01'::timestamptz + i * interval '1 minute', '2026-01-01'::timestamptz + i * interval '1 minute',
      '2026-01-01'::timestamptz + (i + 5) * interval '1 minute'
    from generate_series(1, ${builds}::int) i
    join pipelines p on p.id = (${ids}::uuid[])[case when i % 11 = 0 then 3 when i % 7 = 0 then 2 else 1 end]`.execute(
    app.db,
  )
  await sql`
    insert into build_tallies (build_id, ${sql.raw(Object.keys(noTally).join(', '))})
    select id, ${sql.raw(Object.values(noTally).join(', '))} from builds`.execute(app.db)
  await sql`
    insert into build_meta_data (build_id, key, value, organization_id, created_at)
    select id, 'release', (number % 100)::text, organization_id, created_at from builds`.execute(app.db)
  await sql`vacuum analyze builds, build_meta_data, build_tallies`.execute(app.db)
  ranges['/builds'] = { kind: 'organizations', ids: [org.id, other.id], within: null }
  ranges['/organizations/{org.slug}/builds'] = { kind: 'organizations', ids: [org.id], within: null }
  ranges['/organizations/{org.slug}/pipelines/{pipeline.slug}/builds'] = {
    kind: 'pipelines',
    ids: ids.slice(0, 1),
    organizationIds: [org.id],
  }
})

const noTally = {
  active: 0,
  on_agent: 0,
  hard_failed: 0,
  promised: 0,
  cut_short: 0,
  waiting: 0,
  wanted: 0,
  fail_fast: 0,
  manual_passed: 0,
  manual_failed: 0,
  manual_running: 0,
  jobs: 0,
  uploads: 0,
  impossible: 0,
  ever_started: false,
  cancel_requested: false,
}

async function read(range: Range, query: ListQuery, window: Partial<Window> = {}) {
  const { result: listed, ...plans } = await plansOf(app, async (db) => {
    const filter = await narrow(db, [range], readFilter(query))
    return listIds(db, [range], filter, { limit: 31, offset: 0, after: null, ...window })
  })
  return { listed, ...plans }
}

describe.each([
  '/builds',
  '/organizations/{org.slug}/builds',
  '/organizations/{org.slug}/pipelines/{pipeline.slug}/builds',
])('GET %s', (form) => {
  const range = () => {
    const found = ranges[form]
    if (found === undefined) throw new Error('No range.')
    return found
  }

  it.each<[string, () => ListQuery]>([
    ['no filter', () => ({})],
    ['branch', () => ({ branch: ['main'] })],
    ['several branches', () => ({ branch: ['main', 'topic-7'] })],
    ['a pattern', () => ({ branch: ['topic-*'] })],
    ['a pattern that fits one branch', () => ({ branch: ['*pic-77'] })],
    ['a pattern that fits nothing', () => ({ branch: ['release/*'] })],
    ['commit', () => ({ commit: ['6512bd43d9caa6e02c990b0a82652dca'] })],
    ['creator', () => ({ creator })],
    ['meta_data', () => ({ meta_data: { release: '7' } })],
    ['a common state', () => ({ state: ['passed'] })],
    ['a rare state', () => ({ state: ['running'] })],
    ['blocked', () => ({ state: ['blocked'] })],
    ['finished', () => ({ state: ['finished'] })],
    ['a rare state on a common branch', () => ({ state: ['running'], branch: ['main'] })],
    ['created_from', () => ({ created_from: '2026-01-14' })],
    ['created_to', () => ({ created_to: '2026-01-02' })],
    ['finished_from', () => ({ finished_from: '2026-01-10' })],
    ['finished_from with few', () => ({ finished_from: '2026-01-14T21:15:00Z' })],
    ['finished_from with none', () => ({ finished_from: '2027-01-01' })],
  ])('with %s reads little more than it shows', async (_, query) => {
    const { listed, rows, nodes } = await read(range(), query())
    expect(listed.length).toBeLessThanOrEqual(31)
    expect(nodes.filter((node) => node.includes('Seq Scan'))).toEqual([])
    expect(rows).toBeLessThan(mostRead)
  })

  it.each<[string, ListQuery]>([
    ['no filter', {}],
    ['branch', { branch: ['main'] }],
    ['a common state', { state: ['passed'] }],
  ])('with %s passes over builds in the index alone', async (_, query) => {
    const { listed, nodes } = await read(range(), query, { offset: 3000 })
    expect(listed).toHaveLength(31)
    expect(nodes).toContain('Index Only Scan')
    expect(nodes.filter((node) => node.includes('Seq Scan'))).toEqual([])
  })

  it('reads behind a cursor as little as from the start', async () => {
    const { listed } = await read(range(), {}, { offset: 3000, limit: 1 })
    const [place] = listed
    const after = { at: place?.created_at ?? '', id: place?.id ?? '' }
    const { rows, nodes } = await read(range(), {}, { after })
    expect(nodes.filter((node) => node.includes('Seq Scan'))).toEqual([])
    expect(rows).toBeLessThan(mostRead)
  })
})
