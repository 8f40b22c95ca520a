// Writes packages/server/examples.json: one real response of each endpoint, for the API's description. The responses come
// from the server's tests; ids, times and names are replaced by fixed ones. With paths, only those tests run, and examples
// of other endpoints stay.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from './prepare.mjs'

/** Replacements of values that depend on the time, by field name. */
const fixedValues = {
  timestamp: 1767323045,
  header_times: [1767323045678000000],
  reset: 60,
  current: 1,
  duration_ms: 12,
  concurrency_wait_time_ms: 1500,
}

const plainNames = { org: 'acme', pipeline: 'app', suite: 'unit' }

const file = join(root, 'packages', 'server', 'examples.json')
const folder = mkdtempSync(join(tmpdir(), 'millrace-examples-'))
const paths = process.argv.slice(2)
try {
  execFileSync(
    process.execPath,
    [join(root, 'tools', 'test.mjs'), ...(paths.length > 0 ? paths : ['server/src'])],
    {
      env: { ...process.env, MILLRACE_EXAMPLES_DIR: folder },
      stdio: 'inherit',
    },
  )
} finally {
  const examples = choose(readFileSync(join(folder, 'candidates'), 'utf8').trim().split('\n'))
  const known = JSON.parse(readFileSync(file, 'utf8'))
  const all = Object.entries({ ...known, ...examples }).sort(([a], [b]) => (a < b ? -1 : 1))
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`)
  rmSync(folder, { recursive: true, force: true })
  execFileSync(join(root, 'node_modules', '.bin', 'oxfmt'), [file])
  console.log(`${all.length} examples.`)
}

/** The response with the most values that is not long. The alphabet decides ties, so that the choice is stable. */
function choose(lines) {
  const best = new Map()
  for (const line of lines) {
    const { endpoint, status, params, body } = JSON.parse(line)
    const value = plain(body, params)
    const text = JSON.stringify(value)
    const candidate = { value, text, worth: text.length > 6000 ? -text.length : countValues(value) }
    const name = `${endpoint} ${status}`
    const other = best.get(name)
    const isBetter =
      other === undefined ||
      candidate.worth > other.worth ||
      (candidate.worth === other.worth && text < other.text)
    if (isBetter) best.set(name, candidate)
  }
  return Object.fromEntries([...best].map(([name, { value }]) => [name, value]))
}

function countValues(value) {
  if (value === null || value === '') return 0
  if (typeof value !== 'object') return 1
  return Object.values(value).reduce((sum, field) => sum + countValues(field), 0)
}

function plain(body, params) {
  const uuids = new Map()
  const plainUuid = (uuid) => {
    if (!uuids.has(uuid))
      uuids.set(uuid, `00000000-0000-4000-8000-${String(uuids.size + 1).padStart(12, '0')}`)
    return uuids.get(uuid)
  }
  const words = Object.entries(plainNames).flatMap(([name, word]) =>
    params[name] ? [[params[name], word]] : [],
  )
  const plainText = (text) => {
    let made = text
    for (const [from, to] of words)
      made = made.replaceAll(new RegExp(`(?<![\\w-])${from}(?![\\w-])`, 'g'), to)
    return made
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, plainUuid)
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '2026-01-02T03:04:05.678Z')
      .replaceAll('http://millrace.test', 'https://millrace.example.com')
      .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:8080')
      .replaceAll(/(after|before|ticket)=[\w.-]+/g, '$1=MDAwMA')
      .replaceAll(
        /\b([a-z]+_)?[0-9a-zA-Z]{40,}\b/g,
        (secret, prefix = '') => prefix + '0'.repeat(secret.length - prefix.length),
      )
      .replaceAll(/\b([A-Za-z]+)-[0-9a-f]{8}\b/g, '$1')
  }
  const walk = (value, key) => {
    if (value !== null && typeof value === typeof fixedValues[key]) return fixedValues[key]
    if (typeof value === 'string') return key === 'graphql_id' ? plainGraphqlId(value) : plainText(value)
    if (Array.isArray(value)) return value.map((entry) => walk(entry, ''))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, field]) => [plainText(name), walk(field, name)]),
    )
  }
  const plainGraphqlId = (id) =>
    Buffer.from(plainText(Buffer.from(id, 'base64').toString())).toString('base64')
  return walk(body, '')
}
