// Delivers notifications as a worker does in production.
import pino from 'pino'
import { readConfig } from '@millrace/server/config.ts'
import { createContext } from '@millrace/server/context.ts'
import { openDatabase } from '@millrace/server/db/pool.ts'
import { startNotifications } from '@millrace/server/worker.ts'
import { send } from './children.ts'

const read = readConfig(process.env)
if (!read.ok) throw new Error(read.problems.join(' '))
const { db, pool } = openDatabase(process.env['DATABASE_URL'] ?? '')
const log = pino({ level: 'warn' }, pino.destination(2))
startNotifications(
  createContext({ config: read.config, db, pool, log, secretKeys: ['x'.repeat(32)], hosted: null }),
)
send('ready')
process.on('SIGTERM', () => process.exit(0))
