// A server on a temporary database, with an organization and a token for its agents.
import { startTemporary } from '@millrace/server/db/embedded/temporary.ts'
import { migrate } from '@millrace/server/db/migrate.ts'
import { openDatabase, type Database, type Db } from '@millrace/server/db/pool.ts'
import { hashToken, newId } from '@millrace/server/lib/ids.ts'
import { migrateTasks } from '@millrace/server/tasks/run.ts'
import pino from 'pino'
import { startChild, type Child } from '../../../testbed/dist/children.js'
import { seedOrganization, type Seeded } from './seed.ts'

export interface BenchServer {
  address: string
  database: Database
  databaseUrl: string
  seeded: Seeded
  /** For registering agents. */
  agentToken: string
  server: Child
  stop(): Promise<void>
}

export async function startBenchServer(env: Record<string, string> = {}): Promise<BenchServer> {
  const postgres = await startTemporary()
  const database = openDatabase(postgres.connection)
  await migrate(database.pool)
  await migrateTasks(database.pool, pino({ level: 'silent' }))
  const seeded = await seedOrganization(database.db)
  const agentToken = await seedAgentToken(database.db, seeded)
  const { child: server, ready } = await startChild(new URL('../children/millrace.js', import.meta.url), {
    DATABASE_URL: postgres.url,
    ...env,
  })
  return {
    address: String(ready),
    database,
    databaseUrl: postgres.url,
    seeded,
    agentToken,
    server,
    async stop() {
      await server.stop()
      await database.close()
      await postgres.stop()
    },
  }
}

/** Gives a new database the statistics that a used one has. */
export const analyze = async ({ database }: BenchServer): Promise<void> => {
  await database.pool.query('vacuum analyze')
}

async function seedAgentToken(db: Db, { orgId, clusterId }: Seeded): Promise<string> {
  const token = `mrct_${newId().replaceAll('-', '')}`
  await db
    .insertInto('cluster_tokens')
    .values({
      id: newId(),
      organization_id: orgId,
      cluster_id: clusterId,
      token_hash: hashToken(token),
      description: 'bench',
      allowed_ip_addresses: '0.0.0.0/0 ::/0',
    })
    .execute()
  return token
}
