// Refuses imports that go the wrong way: between packages, up the ladder inside server/src, across folders of one
// rung, into a routes.ts, in a circle (type imports count too);
// clocks and randomness inside the engine; and threads whose module does not exist.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * The imports that a package may have of others. `program` allows `import type` and `import()` of main.ts, and `import type`
 * of wire.ts.
 */
const packages = {
  engine: {},
  protocol: {},
  server: { engine: 'all', protocol: 'all' },
  agent: { engine: 'all', protocol: 'all' },
  cli: { engine: 'all', agent: 'all', server: 'program' },
  web: { engine: 'all' },
}

/** Libraries that only these files import. */
const onlyIn = { yaml: ['packages/engine/src/yaml.ts'] }

/**
 * Highest rung first. A file imports only from lower rungs, and on its own rung only from its own folder. A sub-folder may
 * have a rung of its own, above the rest of its folder.
 */
const ladder = [
  ['main.ts', 'app.ts', 'wire.ts', 'monitoring.ts', 'worker.ts', 'bootstrap.ts', 'backup', 'program'],
  ['agent-api', 'pages', 'graphql', 'mcp'],
  ['hosted/agents', 'source-hosts/incoming'],
  ['resources'],
  ['http', 'conductor'],
  ['notifications'],
  ['context.ts'],
  ['audit'],
  ['hosted', 'source-hosts', 'blobs', 'auth', 'events', 'metrics', 'tasks'],
  ['db', 'config.ts'],
  ['hosted-settings.ts'],
  ['lib'],
]

const problems = []
const graph = new Map()
for (const name of Object.keys(packages)) {
  for (const file of listTypeScript(join(root, 'packages', name, 'src'))) inspect(name, file)
}
for (const circle of findCircles(graph)) problems.push(`circle: ${circle.map(short).join(' -> ')}`)
if (problems.length > 0) {
  console.error(problems.join('\n'))
  process.exit(1)
}
console.log(`Imports: ${graph.size} files, all arrows point down.`)

function inspect(name, file) {
  const text = readFileSync(file, 'utf8')
  const isTest = /\.test\.tsx?$/.test(file)
  const targets = []
  for (const { specifier, isTypeOnly, isDynamic } of importsOf(text)) {
    if (specifier.startsWith('.')) {
      const target = resolve(dirname(file), specifier)
      targets.push(target)
      if (!isTest) checkInside(name, file, target)
    } else if (specifier.startsWith('@millrace/')) {
      checkBetween(name, file, specifier, { isTypeOnly, isDynamic })
    } else if (!isTest) {
      checkOutside(name, file, specifier)
    }
  }
  graph.set(file, targets)
  for (const [, path] of text.matchAll(/\bcompiledModule\('([^']+)'\)/g)) {
    if (!existsSync(join(root, 'packages', name, 'src', path)))
      problems.push(`${short(file)}: there is no module ${path} for a thread`)
  }
  if (name === 'engine' && !isTest) {
    for (const banned of ['Date.now(', 'new Date()', 'Math.random(']) {
      if (text.includes(banned))
        problems.push(`${short(file)}: the engine has no clock and no randomness (${banned})`)
    }
  }
}

function checkInside(name, file, target) {
  const own = relative(join(root, 'packages', name, 'src'), file)
  const other = relative(join(root, 'packages', name, 'src'), target)
  if (other.startsWith('..')) {
    problems.push(`${short(file)}: imports ${short(target)} from outside its src`)
    return
  }
  if (name !== 'server') return
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
  const allowed = packages[name][other]
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
