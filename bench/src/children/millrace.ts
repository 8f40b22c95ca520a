// The measured server, configured as in production, with logging.
import { buildApp } from '@millrace/server/app.ts'
import { readConfig } from '@millrace/server/config/config.ts'
import { createContext } from '@millrace/server/context.ts'
import { createMetrics } from '@millrace/server/lib/metrics.ts'
import { openDatabase } from '@millrace/server/db/pool.ts'
import { openLog } from '@millrace/server/program/log.ts'
import { send } from '../../../testbed/dist/children.js'
import { mostMegabytes } from '../../../testbed/dist/peak-memory.js'

// Requests are counted as in production, but none is refused.
const limits = { MILLRACE_RATE_LIMIT_ORGANIZATION: '10000000', MILLRACE_RATE_LIMIT_USER: '10000000' }
const read = readConfig({ ...process.env, ...limits })
if (!read.ok) throw new Error(read.problems.join(' '))
const database = openDatabase(process.env['DATABASE_URL'] ?? '')
const log = openLog('info', '/dev/null')
const ctx = createContext({
  config: read.config,
  db: database.db,
  direct: database.direct,
  log,
  secretKeys: ['x'.repeat(32)],
  hosted: null,
  metrics: createMetrics(),
})
const app = await buildApp(ctx, database)
// Forms are accepted only from the address that the server was told, so some benchmarks choose the port.
send(await app.listen({ host: '127.0.0.1', port: Number(process.env['BENCH_PORT'] ?? 0) }))
process.on('message', () => send(mostMegabytes()))
process.on('SIGTERM', () => process.exit(0))
