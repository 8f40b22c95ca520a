// Sets who owns the tests of suites with new results: by CODEOWNERS of the newest commit of the default branch that has results, so
// that no branch decides for all. It reads what is stored and may be repeated.
import { sql, type RawBuilder } from 'kysely'
import type { Context } from '../../../context.ts'
import { eachRowApart, mayBeTried } from '../../../db/each-row.ts'
import type { Db } from '../../../db/pool.ts'
import { inTransaction } from '../../../db/transaction.ts'
import type { findCodeOwners, CodeOwnersQuestion } from '../../../source-hosts/code-owners.ts'
import { locate } from '../../../source-hosts/settings.ts'
import { compiledModule } from '../../../lib/package-files.ts'
import { Semaphore } from '../../../lib/semaphore.ts'
import { runInThread } from '../../../lib/threads.ts'
import { readCodeOwners, type Checkout, type CodeOwnersFile } from './read-code-owners.ts'

interface DueSuite {
  id: string
  organizationId: string
  defaultBranch: string | null
  checkedAt: string
  /** Of the builds with new results. */
  repositories: string[]
}

const suitesAtOnce = 1000

/** Each host has its turn beside the others, so a slow one delays only suites whose owners it knows. */
const hostsAtOnce = 8
/** Of a run. What is left waits for the next one. */
const hostMs = 15_000

/** An upload that was committed late is seen in the next run. */
const overlapMs = 60_000

export async function setOwners(ctx: Context): Promise<void> {
  const { rows } = await sql<DueSuite>`
    select s.id, s.organization_id as "organizationId", s.default_branch as "defaultBranch", s.owners_checked_at as "checkedAt",
      array(select distinct p.repository from (${newRuns(sql`s.id`, sql`s.owners_checked_at`)}) r
        join builds b on b.id = r.build_id and b.organization_id = s.organization_id
        join pipelines p on p.id = b.pipeline_id) as repositories
    from test_suites s
    where exists (select from test_runs r where r.suite_id = s.id and r.updated_at >= s.owners_checked_at)
      and ${mayBeTried('test_owners', sql`s.id::text`, ctx.now().toISOString())}
    order by s.owners_checked_at, s.id limit ${suitesAtOnce}`.execute(ctx.db)
  const hosts = new Semaphore(hostsAtOnce)
  const ended = await Promise.allSettled(
    [...byHost(rows)].map((suites) => hosts.run(() => setOwnersOfHost(ctx, suites))),
  )
  for (const end of ended) if (end.status === 'rejected') throw end.reason
}

/** A suite whose repositories are on several hosts is apart from the suites of each. */
function byHost(suites: readonly DueSuite[]): Iterable<DueSuite[]> {
  const groups = new Map<string, DueSuite[]>()
  for (const suite of suites) {
    const key = [...new Set(suite.repositories.map(hostOf))].toSorted().join(' ')
    groups.set(key, [...(groups.get(key) ?? []), suite])
  }
  return groups.values()
}

/** With the port. */
const hostOf = (repository: string): string =>
  /^[a-z][a-z0-9+.-]*:\/\/(?:[^@/]*@)?([^/]+)/i.exec(repository)?.[1] ?? locate(repository)?.host ?? ''

async function setOwnersOfHost(ctx: Context, suites: readonly DueSuite[]): Promise<void> {
  const startMs = performance.now()
  for (const suite of suites) {
    if (performance.now() - startMs > hostMs) return
    await eachRowApart(
      ctx,
      'test_owners',
      [suite],
      ({ id }) => id,
      () => setOwnersOfSuite(ctx, suite),
    )
  }
}

async function setOwnersOfSuite(ctx: Context, suite: DueSuite): Promise<void> {
  const checkedAt = new Date(ctx.now().getTime() - overlapMs).toISOString()
  for (const checkout of await listCheckouts(ctx.db, suite)) {
    const file = await readCodeOwners(ctx, checkout)
    if (file !== null) await setOwnersOfPipeline(ctx, suite, checkout, file)
  }
  await sql`
    update test_suites set owners_checked_at = ${checkedAt}
    where organization_id = ${suite.organizationId} and id = ${suite.id}`.execute(ctx.db)
}

const mostRuns = 500

const newRuns = (suiteId: RawBuilder<unknown>, since: RawBuilder<unknown>) => sql`
  select * from test_runs r
  where r.suite_id = ${suiteId} and r.updated_at >= ${since} and not r.from_fork
  order by r.updated_at desc limit ${sql.lit(mostRuns)}`

/** For each pipeline with new results of the default branch, the newest commit. */
async function listCheckouts(db: Db, suite: DueSuite): Promise<Checkout[]> {
  const { rows } = await sql<Checkout>`
    select distinct on (p.id) p.organization_id as "organizationId", p.id as "pipelineId", p.repository, b.commit
    from (${newRuns(sql`${suite.id}`, sql`${suite.checkedAt}`)}) r
    join builds b on b.id = r.build_id and b.organization_id = ${suite.organizationId}
    join pipelines p on p.id = b.pipeline_id
    where b.branch = coalesce(${suite.defaultBranch}, p.default_branch) and b.commit ~ '^[0-9a-f]{40}([0-9a-f]{24})?$'
    order by p.id, b.created_at desc, b.id desc`.execute(db)
  return rows
}

/** For queries with `tests t`: where the test is, as its sender says. */
const fileOf = sql`coalesce(t.file_name, t.location)`

/** For queries with `tests t`: those that ran since the suite was looked at. A test says so once an hour only. */
const hasRun = (suite: DueSuite, { pipelineId }: Checkout) => sql`
  t.organization_id = ${suite.organizationId} and t.suite_id = ${suite.id}
  and t.last_seen_at >= ${suite.checkedAt}::timestamptz - interval '1 hour' and ${fileOf} is not null
  and exists (
    select from test_days d
    where d.suite_id = t.suite_id and d.test_id = t.id and d.origin_id = ${pipelineId}
      and d.day >= (${suite.checkedAt}::timestamptz at time zone 'utc')::date - 1)`

const filesAtOnce = 500
const mostCpuMs = 20_000

async function setOwnersOfPipeline(
  ctx: Context,
  suite: DueSuite,
  checkout: Checkout,
  { dialect, text }: CodeOwnersFile,
): Promise<void> {
  const { rows } = await sql<{ file: string }>`
    select distinct ${fileOf} as file from tests t where ${hasRun(suite, checkout)} order by file`.execute(
    ctx.db,
  )
  for (let from = 0; from < rows.length; from += filesAtOnce) {
    const files = rows.slice(from, from + filesAtOnce).map(({ file }) => file)
    const owners = await findInThread(suite, { dialect, text, files: files.map(pathOf) })
    const owned = files.map((file, index) => ({ file, owner: ownerOf(owners[index] ?? []) }))
    await write(ctx, suite, checkout, owned)
  }
}

function findInThread(suite: DueSuite, question: CodeOwnersQuestion): Promise<string[][]> {
  const { organizationId } = suite
  const owner = { kind: 'background' as const, organizationId, sender: suite.id, until: null }
  const module = compiledModule('source-hosts/code-owners.ts')
  return runInThread<typeof findCodeOwners>(owner, module, 'findCodeOwners', question, mostCpuMs)
}

/** Senders name files as their test program does: `./spec/basket.rb`, or `spec/basket.rb:12:3` as a location. */
const pathOf = (file: string): string =>
  file
    .replaceAll('\\', '/')
    .replace(/^(?:\.\/)+/, '')
    .replace(/(?::\d+){1,2}$/, '')

const mostCharacters = 500

function ownerOf(owners: readonly string[]): string | null {
  const kept = owners.filter((_, index) => owners.slice(0, index + 1).join(' ').length <= mostCharacters)
  return kept.length === 0 ? null : kept.join(' ')
}

/** Uploads lock the rows of tests in this order, too (test_runs/add-results.ts). */
async function write(
  ctx: Context,
  suite: DueSuite,
  checkout: Checkout,
  owned: ReadonlyArray<{ file: string; owner: string | null }>,
): Promise<void> {
  await inTransaction(ctx.db, (trx) =>
    sql`
      with changed as (
        select t.id, g.owner
        from jsonb_to_recordset(${JSON.stringify(owned)}::jsonb) as g (file text, owner text)
          join tests t on ${fileOf} = g.file and t.owner is distinct from g.owner
        where ${hasRun(suite, checkout)}
        order by (t.scope || chr(31) || t.name) collate "C" for no key update of t
      )
      update tests t set owner = c.owner from changed c where t.suite_id = ${suite.id} and t.id = c.id`.execute(
      trx,
    ),
  )
}
