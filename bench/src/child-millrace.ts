// The server under measurement, as it runs in production, logging included.
import { existsSync, readFileSync } from 'node:fs'
import { buildApp } from '@millrace/server/app.ts'
import { readConfig } from '@millrace/server/config.ts'
import { createContext } from '@millrace/server/context.ts'
import { openDatabase } from '@millrace/server/db/pool.ts'
import { openLog } from '@millrace/server/program/log.ts'
import { tell } from './children.ts'

// Requests are counted as in production, and none is refused.
const limits = { MILLRACE_RATE_LIMIT_ORGANIZATION: '10000000', MILLRACE_RATE_LIMIT_USER: '10000000' }
const read = readConfig({ ...process.env, ...limits })
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
const app = await buildApp(ctx, database)
tell(await app.listen({ host: '127.0.0.1', port: 0 }))
process.on('message', () => tell(mostMegabytes()))
process.on('SIGTERM', () => process.exit(0))

/** The most it ever had. What the system says of a process counts the one that it was forked from; Linux also tells without. */
function mostMegabytes(): number {
  const { maxRSS } = process.resourceUsage()
  const own = existsSync('/proc/self/status')
    ? /VmHWM:\s*(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]
    : undefined
  return Number(own ?? maxRSS) / 1024
}
