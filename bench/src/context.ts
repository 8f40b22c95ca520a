import { readConfig } from '@millrace/server/config.ts'
import { createContext, type Context } from '@millrace/server/context.ts'
import type { Database } from '@millrace/server/db/pool.ts'
import pino from 'pino'

/** For functions that are measured without a server. */
export function contextOn({ db, pool }: Database, env: Record<string, string> = {}): Context {
  const read = readConfig(env)
  if (!read.ok) throw new Error(read.problems.join(' '))
  const log = pino({ level: 'silent' })
  return createContext({ config: read.config, db, pool, log, secretKeys: ['x'.repeat(32)], hosted: null })
}
