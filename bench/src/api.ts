// GET of one cluster and of a list of 30, compared with the bare framework and the bare query.
import { startTemporary } from '@millrace/server/db/embedded/temporary.ts'
import { migrate } from '@millrace/server/db/migrate.ts'
import { openDatabase, type Db } from '@millrace/server/db/pool.ts'
import { newId } from '@millrace/server/lib/ids.ts'
import * as clusters from '@millrace/server/resources/clusters/clusters/queries.ts'
import { capture, type Statement } from './harness/capture.ts'
import { startChild, type Child } from '../../testbed/dist/children.js'
import { loadUrl, median, middle, type Measured } from './harness/load.ts'
import type { Report } from './harness/report.ts'
import { seedOrganization } from './harness/seed.ts'

const connectionCounts = [1, 16, 64]
const rounds = 9
const warmUpRounds = 6
const seconds = 1
const target = 0.5

export async function benchApi(): Promise<Report> {
  const postgres = await startTemporary()
  const database = openDatabase(postgres.connection)
  await migrate(database.pool)
  const { orgId, slug, token, clusterId } = await seed(database.db)
  const env = { DATABASE_URL: postgres.url }
  const millrace = new URL('./children/millrace.js', import.meta.url)
  const { child: server, ready: address } = await startChild(millrace, env)
  const { child: sqlChild } = await startChild(new URL('./children/sql.js', import.meta.url), env)
  const base = `${String(address)}/v2/organizations/${slug}/clusters`
  const rows: Report['rows'] = []
  const targets: Report['targets'] = []

  const captured = capture(database.pool)
  for (const { title, url, ask } of [
    {
      title: 'get one',
      url: `${base}/${clusterId}`,
      ask: () => clusters.findInOrg(captured.db, orgId, clusterId),
    },
    {
      title: 'list 30',
      url: `${base}?per_page=30`,
      ask: () => clusters.listInOrg(captured.db, orgId, { limit: 31, offset: 0 }),
    },
  ]) {
    await ask()
    const statements = captured.take()
    const body = await (await fetch(url, { headers: { authorization: `Bearer ${token}` } })).text()
    const { child: http, ready: bare } = await startChild(new URL('./children/http.js', import.meta.url), {
      BODY: body,
    })
    // Warm up all three before measuring.
    const setting = { url, token, bare: String(bare), sqlChild, statements }
    await measureRounds({ ...setting, connections: 16, rounds: warmUpRounds })
    for (const connections of connectionCounts) {
      const measured = await measureRounds({ ...setting, connections, rounds })
      rows.push({
        what: title,
        connections,
        'millrace/s': Math.round(measured.ours.perSecond),
        'p50 ms': round(measured.ours.p50),
        'p95 ms': round(measured.ours.p95),
        'p99 ms': round(measured.ours.p99),
        'bare http/s': Math.round(measured.http.perSecond),
        'bare sql/s': Math.round(measured.sql.perSecond),
        ratio: measured.ratio.toFixed(2),
      })
      targets.push({
        what: `${title}, ${connections} connections, of the slower yardstick`,
        target: `≥ ${target}`,
        measured: measured.ratio.toFixed(2),
        met: measured.ratio >= target,
      })
    }
    await http.stop()
  }
  await Promise.all([server.stop(), sqlChild.stop()])
  await database.close()
  await postgres.stop()
  return { name: 'api', rows, targets }
}

interface Setting {
  url: string
  token: string
  bare: string
  sqlChild: Child
  statements: Statement[]
  connections: number
  rounds: number
}

/** The three alternate, so that other load on the machine affects them equally. */
async function measureRounds({
  url,
  token,
  bare,
  sqlChild,
  statements,
  connections,
  rounds: count,
}: Setting) {
  const measured: Record<'ours' | 'http' | 'sql', Measured[]> = { ours: [], http: [], sql: [] }
  // Ratios are taken within a round, because the machine's speed changes between rounds.
  const ratios: number[] = []
  for (let round = 0; round < count; round++) {
    const ours = await loadUrl({ url, token, connections, seconds })
    const http = await loadUrl({ url: bare, token, connections, seconds })
    const sql = await sqlChild.ask<Measured>({ statements, callers: connections, seconds })
    measured.ours.push(ours)
    measured.http.push(http)
    measured.sql.push(sql)
    ratios.push(ours.perSecond / Math.min(http.perSecond, sql.perSecond))
  }
  return {
    ours: median(measured.ours),
    http: median(measured.http),
    sql: median(measured.sql),
    ratio: middle(ratios),
  }
}

async function seed(db: Db) {
  const seeded = await seedOrganization(db)
  const { orgId, userId } = seeded
  const ids = Array.from({ length: 60 }, newId)
  await db
    .insertInto('clusters')
    .values(
      ids.map((id, index) => ({ id, organization_id: orgId, name: `Cluster ${index}`, created_by: userId })),
    )
    .execute()
  await db
    .insertInto('cluster_maintainers')
    .values(
      ids.map((id) => ({
        id: newId(),
        organization_id: orgId,
        cluster_id: id,
        user_id: userId,
        team_id: null,
      })),
    )
    .execute()
  return { ...seeded, clusterId: ids[0] ?? '' }
}

const round = (ms: number) => Math.round(ms * 100) / 100
