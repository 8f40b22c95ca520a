import { readConfig } from '@millrace/server/config/config.ts'
import { createMetrics } from '@millrace/server/lib/metrics.ts'
import { createContext, type Context } from '@millrace/server/context.ts'
import type { Database } from '@millrace/server/db/pool.ts'
import pino, { type Logger } from 'pino'

/** For functions that are measured without a server. */
export function contextOn(
  { db, direct }: Database,
  env: NodeJS.ProcessEnv = {},
  log: Logger = pino({ level: 'silent' }),
): Context {
  const read = readConfig(env)
  if (!read.ok) throw new Error(read.problems.join(' '))
  return createContext({
    config: read.config,
    db,
    direct,
    log,
    secretKeys: ['x'.repeat(32)],
    hosted: null,
    metrics: createMetrics(),
  })
}
