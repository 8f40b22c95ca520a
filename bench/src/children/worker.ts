// Delivers notifications as a worker does in production.
import pino from 'pino'
import { openDatabase } from '@millrace/server/db/pool.ts'
import { startNotifications } from '@millrace/server/worker.ts'
import { send } from '../../../testbed/dist/children.js'
import { contextOn } from '../harness/context.ts'

const database = openDatabase(process.env['DATABASE_URL'] ?? '')
const log = pino({ level: 'warn' }, pino.destination(2))
startNotifications(contextOn(database, process.env, log))
send('ready')
process.on('SIGTERM', () => process.exit(0))
