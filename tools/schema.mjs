// Writes packages/server/schema.sql and src/db/generated/tables.ts from a freshly migrated database; with --check only
// says whether they are up to date. Needs a build: `npm run schema` makes one first.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describeSchema } from '../packages/server/dist/db/generated/describe-schema.js'
import { startTemporary } from '../packages/server/dist/db/embedded/temporary.js'
import { migrate } from '../packages/server/dist/db/migrate.js'
import { openDatabase } from '../packages/server/dist/db/pool.js'

const server = fileURLToPath(new URL('../packages/server/', import.meta.url))
const isCheck = process.argv.includes('--check')

const postgres = await startTemporary()
const database = openDatabase(postgres.connection)
await migrate(database.pool)
const { sql, types } = await describeSchema(database.pool)
await database.close()
await postgres.stop()

const stale = []
for (const [path, text] of [
  ['schema.sql', sql],
  ['src/db/generated/tables.ts', types],
]) {
  if (readOrEmpty(server + path) === text) continue
  stale.push(path)
  if (!isCheck) writeFileSync(server + path, text)
}
if (isCheck && stale.length > 0) {
  console.error(
    `${stale.join(' and ')} do not match the migrations: run \`npm run schema\` and commit the result.`,
  )
  process.exit(1)
}
console.log(stale.length === 0 ? 'Schema: up to date.' : `Schema: wrote ${stale.join(', ')}.`)

function readOrEmpty(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
