// The server under measurement, as it runs in production, logging included.
import { serveAgents, slices } from '@millrace/server/app.ts'
import { readConfig } from '@millrace/server/config.ts'
import { createContext } from '@millrace/server/context.ts'
import { openDatabase } from '@millrace/server/db/pool.ts'
import { buildServer } from '@millrace/server/http/server.ts'
import { openLog } from '@millrace/server/program/log.ts'
import { tell } from './children.ts'

const read = readConfig(process.env)
if (!read.ok) throw new Error(read.problems.join(' '))
const database = openDatabase(process.env['DATABASE_URL'] ?? '')
const log = openLog('info', '/dev/null')
const ctx = createContext({
  config: read.config,
  db: database.db,
  pool: database.pool,
  log,
  secretKeys: ['x'.repeat(32)],
  hosted: null,
})
const app = await buildServer(ctx, database.pool, slices)
await serveAgents(app, ctx, database.pool)
tell(await app.listen({ host: '127.0.0.1', port: 0 }))
process.on('message', () => tell(process.resourceUsage().maxRSS / 1024))
process.on('SIGTERM', () => process.exit(0))
