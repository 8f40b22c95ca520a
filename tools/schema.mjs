// Writes packages/server/schema.sql and src/db/generated/tables.ts from a freshly migrated database; with --check only
// says whether they are up to date. Translates just the sources that it needs and checks no types, so that it also works
// while the rest does not compile.
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'
import { root } from './prepare.mjs'

const server = join(root, 'packages', 'server')
const isCheck = process.argv.includes('--check')

const bundle = await rolldown({
  input: ['generated/describe-schema', 'embedded/temporary', 'migrate', 'pool'].map((name) =>
    join(server, 'src', 'db', `${name}.ts`),
  ),
  platform: 'node',
  external: /^[^./]/,
})
const translated = join(server, 'dist', `.schema-${process.pid}`)
await bundle.write({ dir: translated, format: 'esm' })
const load = (name) => import(pathToFileURL(join(translated, `${name}.js`)).href)
const { describeSchema } = await load('describe-schema')
const { startTemporary } = await load('temporary')
const { migrate } = await load('migrate')
const { openDatabase } = await load('pool')
rmSync(translated, { recursive: true })

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
  const file = join(server, path)
  if (readOrEmpty(file) === text) continue
  stale.push(path)
  if (!isCheck) writeFileSync(file, text)
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
