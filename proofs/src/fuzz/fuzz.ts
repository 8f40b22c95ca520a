// Starts the server and its worlds, sends the requests, and checks server and database afterwards.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openBlobs } from '@millrace/server/blobs/open.ts'
import { readConfig } from '@millrace/server/config/config.ts'
import { startTemporary } from '@millrace/server/db/embedded/temporary.ts'
import { migrate } from '@millrace/server/db/migrate.ts'
import { openDatabase } from '@millrace/server/db/pool.ts'
import { migrateTasks } from '@millrace/server/tasks/run.ts'
import pino from 'pino'
import { freePort } from '../../../testbed/dist/free-port.js'
import { startChild } from '../../../testbed/dist/children.js'
import {
  brokenRows,
  changedTables,
  logFindings,
  longestPauses,
  settledDigest,
  slowFindings,
  unhealthy,
} from './aftermath.ts'
import type { Health } from './child-server.ts'
import { Client } from './client.ts'
import type { Coverage } from './coverage.ts'
import { makers } from './world/makers.ts'
import type { Operation } from './operations/operation.ts'
import { listOperations } from './operations/operations.ts'
import { startRemote } from './remote.ts'
import { Run, type Finding, type Plan } from './run.ts'
import { digestOf, uuidsOf } from './tenants.ts'
import { judgeOf } from './verdict.ts'
import { World } from './world/world.ts'

interface Outcome {
  findings: Finding[]
  coverage: Coverage
  /** Everything worth a line that is no finding. */
  notes: string[]
}

/** The marker of the tenant whose rows nobody may see. */
const foreignMarker = 'foreigner'

/** `stop` ends the sending early; the checks follow nevertheless. */
export async function fuzz(plan: Plan, say: (line: string) => void, stop: AbortSignal): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-fuzz-'))
  const logFile = join(folder, 'server.log')
  const remote = await startRemote(plan.seed)
  const postgres = await startTemporary()
  const database = openDatabase(postgres.connection)
  await migrate(database.pool)
  await migrateTasks(database.pool, pino({ level: 'silent' }))
  const port = await freePort()
  const env = settings(postgres.url, port, folder, logFile, remote.address)
  const read = readConfig(env)
  if (!read.ok) throw new Error(read.problems.join(' '))
  const { config } = read
  const { child } = await startChild(new URL('./child-server.js', import.meta.url), env, ['--expose-gc'])
  const client = new Client(`http://127.0.0.1:${port}`, plan.concurrency * 2)
  try {
    const operations = await findOperations(client, plan.only)
    const { db } = database
    const store = { db, blobs: openBlobs(config), config }
    const newWorld = (marker: string) =>
      World.create({ client, db, marker, remote: remote.address, makers, store }, remote.privateKey)
    const theirs = await newWorld(foreignMarker)
    const worlds = await Promise.all(
      Array.from({ length: Math.max(1, Math.ceil(plan.concurrency / 2)) }, (_, index) =>
        newWorld(`fuzz${index}`),
      ),
    )
    const before = await settledDigest(() => digestOf(database.pool, theirs.id('org_uuid')))
    const foreign = await uuidsOf(database.pool, theirs.id('org_uuid'))
    const judge = judgeOf(operations, foreign, foreignMarker)
    const run = new Run(plan, { operations, client, worlds, theirs, judge })
    await run.send(say, stop)
    const health = await child.ask<Health>('health')
    const after = await digestOf(database.pool, theirs.id('org_uuid'))
    const findings = [
      ...run.findings,
      ...changedTables(before, after),
      ...(await brokenRows(database.pool)),
      ...(await unhealthy(client)),
      ...(await logFindings(logFile, (number) => run.attemptOf(number))),
      ...slowFindings(health),
    ]
    const notes = [
      `Memory: at most ${health.mostMiB} MiB, ${health.heapMiB} MiB of heap at the end.`,
      `Longest pauses of the event loop: ${longestPauses(health)}.`,
    ]
    for (const [reason, count] of run.failures)
      notes.push(`A row could not be made, ${count} times: ${reason}`)
    if (plan.keep) await stayUp(client.address, say)
    return { findings, coverage: run.coverage, notes }
  } finally {
    await child.stop()
    await client.close()
    await database.close()
    await postgres.stop()
    await remote.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function stayUp(address: string, say: (line: string) => void): Promise<void> {
  say(`The server stays at ${address} until you press Ctrl-C.`)
  await new Promise((resolve) => process.once('SIGINT', resolve))
}

function settings(
  databaseUrl: string,
  port: number,
  folder: string,
  logFile: string,
  remote: string,
): Record<string, string> {
  const site = (name: string) => ({
    [`MILLRACE_${name}_CLIENT_ID`]: 'fuzz',
    [`MILLRACE_${name}_CLIENT_SECRET`]: 'a secret of the site',
    [`MILLRACE_${name}_AUTHORIZE_URL`]: `${remote}/authorize`,
    [`MILLRACE_${name}_TOKEN_URL`]: `${remote}/token`,
    [`MILLRACE_${name}_REVOKE_URL`]: `${remote}/revoke`,
    [`MILLRACE_${name}_API_URL`]: `${remote}/api`,
  })
  return {
    DATABASE_URL: databaseUrl,
    PORT: String(port),
    MILLRACE_URL: `http://127.0.0.1:${port}`,
    MILLRACE_DATA_DIR: folder,
    FUZZ_LOG: logFile,
    MILLRACE_OUTBOUND_ALLOW: '127.0.0.0/8',
    MILLRACE_HOSTED: 'docker:///nowhere/engine.sock',
    MILLRACE_HOSTED_BASE_IMAGE: 'base:1',
    MILLRACE_PING_HOLD_SECONDS: '1',
    MILLRACE_AGENT_LOST_SECONDS: '86400',
    MILLRACE_ARTIFACT_PART_MIB: '10',
    MILLRACE_RATE_LIMIT_ORGANIZATION: '10000000',
    MILLRACE_RATE_LIMIT_USER: '10000000',
    MILLRACE_PAGER_URL: remote,
    MILLRACE_EVENT_BUS_ENDPOINT: remote,
    ...site('CHAT_WORKSPACE'),
    ...site('ISSUE_TRACKER'),
  }
}

async function findOperations(client: Client, only: string | null): Promise<Operation[]> {
  const document = await client.send({ method: 'GET', path: '/v2/openapi.json', headers: {}, body: null })
  if ('failure' in document) throw new Error(document.failure)
  const all = listOperations(JSON.parse(document.text))
  const chosen = only === null ? all : all.filter(({ id }) => id.includes(only))
  if (chosen.length === 0) throw new Error(`No operation has "${only}" in its name.`)
  return chosen
}
