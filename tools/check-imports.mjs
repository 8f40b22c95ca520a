// Refuses imports that go the wrong way: between the packages, testbed, bench, proofs and e2e, up the ladders inside
// server/src, across folders of one rung, into a routes.ts or a test, in a circle of files or folders (type imports count
// too); folders with too many files; clocks and randomness inside the engine; and threads whose module does not exist.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** The packages that export modules. */
const exported = { engine: 'all', protocol: 'all', agent: 'all', server: 'all' }

/**
 * The folder with the sources of each part, and the other parts that they may import. Packages are imported by name, the
 * testbed and the lock by their paths. `program` allows `import type` and `import()` of main.ts, and `import type` of wire.ts.
 */
const parts = {
  engine: { sources: 'packages/engine/src', mayImport: {} },
  protocol: { sources: 'packages/protocol/src', mayImport: {} },
  server: { sources: 'packages/server/src', mayImport: { engine: 'all', protocol: 'all' } },
  agent: { sources: 'packages/agent/src', mayImport: { engine: 'all', protocol: 'all' } },
  cli: { sources: 'packages/cli/src', mayImport: { engine: 'all', agent: 'all', server: 'program' } },
  web: { sources: 'packages/web/src', mayImport: { engine: 'all' } },
  testbed: { sources: 'testbed/src', mayImport: {} },
  bench: { sources: 'bench/src', mayImport: { testbed: 'all', ...exported } },
  proofs: { sources: 'proofs/src', mayImport: { testbed: 'all', ...exported } },
  e2e: { sources: 'e2e', mayImport: { testbed: 'all', 'tools/lock.mjs': 'all' } },
}

/** Libraries that only these files of our packages import. */
const onlyIn = { yaml: ['packages/engine/src/yaml.ts'] }

/** Highest rung first. A file imports only from lower rungs, and on its own rung only from its own folder. */
const ladder = [
  ['main.ts', 'app.ts', 'wire.ts', 'monitoring.ts', 'worker.ts', 'bootstrap.ts', 'backup', 'program'],
  ['agent-api', 'pages', 'graphql', 'mcp', 'openapi'],
  ['hosted-agents', 'webhooks'],
  ['resources'],
  ['http', 'conductor'],
  ['notifications'],
  ['context.ts'],
  ['audit'],
  ['hosted', 'source-hosts', 'blobs', 'auth', 'events', 'metrics', 'tasks'],
  ['db', 'config'],
  ['lib'],
]

/** The same inside `resources`: its domains, and below them what several domains use. */
const domains = [
  ['installation'],
  ['notifications'],
  ['builds'],
  ['tests'],
  ['insights'],
  ['pipelines'],
  ['clusters'],
  ['job'],
  ['people', 'addresses'],
  ['schema.ts', 'child-queries.ts'],
]

/** Not counting tests. */
const mostFilesInFolder = 30

const problems = []
const graph = new Map()
for (const [name, { sources }] of Object.entries(parts)) {
  for (const file of listTypeScript(join(root, sources))) inspect(name, file)
}
findCircles()
for (const [folder, count] of countFiles()) {
  if (count > mostFilesInFolder)
    problems.push(`${short(folder)}: has ${count} files, more than ${mostFilesInFolder}`)
}
if (problems.length > 0) {
  console.error(problems.join('\n'))
  process.exit(1)
}
console.log(`Imports: ${graph.size} files, all arrows point down.`)

function inspect(name, file) {
  const text = readFileSync(file, 'utf8')
  const isTest = isPackage(name) && isTestFile(file)
  const targets = []
  for (const { specifier, isTypeOnly, isDynamic } of importsOf(text)) {
    if (specifier.startsWith('.')) {
      const target = sourceOf(resolve(dirname(file), specifier))
      targets.push(target)
      if (isTestFile(target)) problems.push(`${short(file)}: imports the test ${short(target)}`)
      checkPath(name, file, target, isTest)
    } else if (specifier.startsWith('@millrace/')) {
      checkBetween(name, file, specifier, { isTypeOnly, isDynamic })
    } else if (isPackage(name) && !isTest) {
      checkOutside(name, file, specifier)
    }
  }
  graph.set(file, targets)
  for (const [, path] of text.matchAll(/\bcompiledModule\('([^']+)'\)/g)) {
    if (!existsSync(join(root, parts[name].sources, path)))
      problems.push(`${short(file)}: there is no module ${path} for a thread`)
  }
  if (name === 'engine' && !isTest) {
    for (const banned of ['Date.now(', 'new Date()', 'Math.random(']) {
      if (text.includes(banned))
        problems.push(`${short(file)}: the engine has no clock and no randomness (${banned})`)
    }
  }
}

function checkPath(name, file, target, isTest) {
  if (!mayImportPath(name, target, isTest))
    problems.push(`${short(file)}: ${name} may not import ${short(target)}`)
  else if (name === 'server' && !isTest) checkLadder(file, target)
}

/** The tests of a package also import the testbed and the `test/` folders of packages. */
function mayImportPath(name, target, isTest) {
  const other = partOf(target)
  if (other === name) return true
  if (isTest) return other === 'testbed' || /^packages\/\w+\/test\//.test(short(target))
  return parts[name].mayImport[other === 'testbed' ? other : short(target)] === 'all'
}

function checkLadder(file, target) {
  const own = relative(join(root, parts.server.sources), file)
  const other = relative(join(root, parts.server.sources), target)
  if (other.endsWith('routes.ts') && own !== 'app.ts')
    problems.push(`${short(file)}: only app.ts imports a routes.ts`)
  checkRungs(file, ladder, own, other)
  if (own.startsWith('resources/') && other.startsWith('resources/'))
    checkRungs(file, domains, own.slice('resources/'.length), other.slice('resources/'.length))
  if (own.endsWith('/schema.ts') && !other.endsWith('/schema.ts') && !own.startsWith('http')) {
    problems.push(`${short(file)}: a schema.ts imports only other schema.ts files`)
  }
}

function checkRungs(file, rungs, own, other) {
  const [ownEntry, otherEntry] = [own.split('/')[0], other.split('/')[0]]
  const rungOf = (entry) => rungs.findIndex((rung) => rung.includes(entry))
  const [from, to] = [rungOf(ownEntry), rungOf(otherEntry)]
  if (from === -1) problems.push(`${short(file)}: ${ownEntry} is on no rung of the ladder`)
  if (to < from) problems.push(`${short(file)}: imports ${other}, which is above it`)
  if (to === from && rungs[from] !== ladder[0] && ownEntry !== otherEntry)
    problems.push(`${short(file)}: imports ${other}, a neighbour on its rung`)
}

function checkBetween(name, file, specifier, { isTypeOnly, isDynamic }) {
  const [, other, ...rest] = specifier.split('/')
  const allowed = parts[name].mayImport[other]
  if (allowed === 'all') return
  if (allowed === 'program' && (isTypeOnly || isDynamic) && rest.join('/') === 'main.ts') return
  if (allowed === 'program' && isTypeOnly && rest.join('/') === 'wire.ts') return
  problems.push(`${short(file)}: ${name} may not import ${specifier} like this`)
}

function checkOutside(name, file, specifier) {
  if (name === 'engine' && specifier !== 'yaml')
    problems.push(`${short(file)}: the engine imports nothing (${specifier})`)
  const places = onlyIn[specifier]
  if (places !== undefined && !places.includes(short(file))) {
    problems.push(`${short(file)}: ${specifier} is imported only by ${places.join(', ')}`)
  }
}

function isPackage(name) {
  return parts[name].sources.startsWith('packages/')
}

function partOf(file) {
  return Object.keys(parts).find((name) => short(file).startsWith(`${parts[name].sources}/`))
}

/** Compiled code imports the compiled files of the testbed. */
function sourceOf(file) {
  return join(root, short(file).replace(/^testbed\/dist\/(.*)\.js$/, 'testbed/src/$1.ts'))
}

function importsOf(text) {
  const found = []
  for (const match of text.matchAll(/^(import|export)\s([^'"]*?\sfrom\s)?['"]([^'"]+)['"]/gm)) {
    const clause = match[2] ?? ''
    const named = /\{([^}]*)\}/.exec(clause)?.[1] ?? ''
    const allTypes =
      named.trim() !== '' &&
      named.split(',').every((part) => part.trim() === '' || part.trim().startsWith('type '))
    const isTypeOnly = clause.startsWith('type ') || (allTypes && !/^\s*\w+\s*,/.test(clause))
    found.push({ specifier: match[3], isTypeOnly, isDynamic: false })
  }
  for (const match of text.matchAll(/\bimport\(\s*['"]([^'"]+)['"]\s*\)/g)) {
    found.push({ specifier: match[1], isTypeOnly: false, isDynamic: true })
  }
  return found
}

/**
 * In every folder, its files and its sub-folders never import each other in a circle. This also finds every circle of files:
 * in the folder that contains all of them.
 */
function findCircles() {
  const folders = new Map()
  for (const [file, targets] of graph) {
    for (const target of targets) {
      if (isTestFile(file) || !graph.has(target)) continue
      const [own, other] = [short(file).split('/'), short(target).split('/')]
      const depth = own.findIndex((name, index) => name !== other[index])
      if (depth === -1) continue
      const folder = own.slice(0, depth).join('/')
      const imports = folders.get(folder) ?? new Map()
      folders.set(folder, imports)
      const from = imports.get(own[depth]) ?? new Map()
      imports.set(own[depth], from)
      from.set(other[depth], `${short(file)} imports ${short(target)}`)
    }
  }
  for (const [folder, imports] of folders) {
    const circle = findCircle(imports)
    if (circle === null) continue
    const reasons = circle.map((entry, index) => imports.get(entry).get(circle[(index + 1) % circle.length]))
    problems.push(`circle in ${folder}: ${circle.join(' -> ')}\n  ${reasons.join('\n  ')}`)
  }
}

function findCircle(imports) {
  const done = new Set()
  const visit = (entry, path) => {
    if (path.includes(entry)) return path.slice(path.indexOf(entry))
    if (done.has(entry)) return null
    for (const next of imports.get(entry)?.keys() ?? []) {
      const circle = visit(next, [...path, entry])
      if (circle !== null) return circle
    }
    done.add(entry)
    return null
  }
  for (const entry of imports.keys()) {
    const circle = visit(entry, [])
    if (circle !== null) return circle
  }
  return null
}

function countFiles() {
  const counts = new Map()
  const folders = Object.values(parts).map(({ sources }) => sources)
  const tests = Object.keys(parts).map((name) => `packages/${name}/test`)
  for (const file of [...folders, ...tests, 'tools'].flatMap((folder) => listFiles(join(root, folder)))) {
    if (/\.(tsx?|mjs|css)$/.test(file) && !isTestFile(file))
      counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1)
  }
  return counts
}

function isTestFile(file) {
  return /\.test\.tsx?$/.test(file)
}

function listTypeScript(folder) {
  return listFiles(folder).filter((file) => /\.tsx?$/.test(file))
}

function listFiles(folder) {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
  } catch {
    return []
  }
}

function short(file) {
  return relative(root, file)
}
