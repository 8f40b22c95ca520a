// Refuses imports that go the wrong way: between the packages, testbed, bench, proofs and e2e, up the ladder inside
// server/src, across folders of one rung, into a routes.ts, in a circle (type imports count too);
// clocks and randomness inside the engine; and threads whose module does not exist.
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

/**
 * Highest rung first. A file imports only from lower rungs, and on its own rung only from its own folder. A sub-folder may
 * have a rung of its own, above the rest of its folder.
 */
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

const problems = []
const graph = new Map()
for (const [name, { sources }] of Object.entries(parts)) {
  for (const file of listTypeScript(join(root, sources))) inspect(name, file)
}
for (const circle of findCircles(graph)) problems.push(`circle: ${circle.map(short).join(' -> ')}`)
if (problems.length > 0) {
  console.error(problems.join('\n'))
  process.exit(1)
}
console.log(`Imports: ${graph.size} files, all arrows point down.`)

function inspect(name, file) {
  const text = readFileSync(file, 'utf8')
  const isTest = isPackage(name) && /\.test\.tsx?$/.test(file)
  const targets = []
  for (const { specifier, isTypeOnly, isDynamic } of importsOf(text)) {
    if (specifier.startsWith('.')) {
      const target = sourceOf(resolve(dirname(file), specifier))
      targets.push(target)
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
  const [from, to] = [rungOf(own), rungOf(other)]
  if (from === -1) problems.push(`${short(file)}: is on no rung of the ladder`)
  if (to < from) problems.push(`${short(file)}: imports ${other}, which is above it`)
  if (to === from && from !== 0 && placeOf(own) !== placeOf(other)) {
    problems.push(`${short(file)}: imports ${other}, a neighbour on its rung`)
  }
  if (own.endsWith('/schema.ts') && !other.endsWith('/schema.ts') && !own.startsWith('http')) {
    problems.push(`${short(file)}: a schema.ts imports only other schema.ts files`)
  }
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

function rungOf(path) {
  return ladder.findIndex((rung) => rung.includes(placeOf(path)))
}

/** The name of a file's rung entry. */
function placeOf(path) {
  const [first, second] = path.split('/')
  const inner = `${first}/${second}`
  return ladder.flat().includes(inner) ? inner : first
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

function findCircles(edges) {
  const circles = []
  const done = new Set()
  const visit = (file, path) => {
    if (path.includes(file)) {
      circles.push([...path.slice(path.indexOf(file)), file])
      return
    }
    if (done.has(file)) return
    for (const next of edges.get(file) ?? []) visit(next, [...path, file])
    done.add(file)
  }
  for (const file of edges.keys()) visit(file, [])
  return circles
}

function listTypeScript(folder) {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
  } catch {
    return []
  }
}

function short(file) {
  return relative(root, file)
}
