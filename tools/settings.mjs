// Writes the tables of settings into the docs, from the declarations in packages/server/src/config; with --check only says
// whether they are up to date. The line `<!-- settings -->` begins the tables of all subjects, and `<!-- settings: TITLE -->`
// the table of one; `<!-- end of settings -->` ends both.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { compile } from './compile.mjs'
import { root } from './prepare.mjs'

const docs = ['docs/operating.md', 'docs/hosted-kubernetes.md', 'docs/monitoring.md']
const isCheck = process.argv.includes('--check')

await compile()
const { subjects } = await import('../packages/server/dist/config/config.js')
const stale = docs.filter((path) => {
  const file = join(root, path)
  const text = readFileSync(file, 'utf8')
  const wanted = withTables(text)
  if (!isCheck && wanted !== text) writeFileSync(file, wanted)
  return wanted !== text
})
if (isCheck && stale.length > 0) {
  console.error(
    `${stale.join(' and ')} do not match the settings: run \`npm run settings\` and commit the result.`,
  )
  process.exit(1)
}
console.log(stale.length === 0 ? 'Settings: up to date.' : `Settings: wrote ${stale.join(', ')}.`)

function withTables(text) {
  return text.replaceAll(
    /(<!-- settings(?:: ([^>]+))? -->\n)[^]*?(<!-- end of settings -->)/g,
    (_, begin, title, end) => `${begin}\n${title === undefined ? allTables() : tableOf(title)}\n${end}`,
  )
}

function allTables() {
  return subjects.map(({ title }) => `### ${title}\n\n${tableOf(title)}`).join('\n')
}

function tableOf(wanted) {
  const subject = subjects.find(({ title }) => title === wanted)
  if (subject === undefined) throw new Error(`There are no settings of "${wanted}".`)
  const rows = Object.entries(subject.settings).map(
    ([name, { shown, description }]) => `| \`${subject.prefix}${name}\` | ${shown} | ${description} |\n`,
  )
  return `| Setting | Default | Effect |\n|---|---|---|\n${rows.join('')}`
}
