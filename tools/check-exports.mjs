// Refuses an export, of a value or a type, that no other file imports. `node tools/check-exports.mjs FOLDER…` checks the exports
// of these folders; without arguments, of all.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync } from 'rolldown/utils'

const root = fileURLToPath(new URL('..', import.meta.url))
const folders = ['packages', 'bench', 'proofs', 'testbed', 'e2e', 'tools']
const files = [...folders.flatMap(listSources), 'vitest.config.ts']
const known = new Set(files)

/** By file: the names of its exports, with their positions. */
const exported = new Map()
/** By file: the names that other files import. */
const imported = new Map(files.map((file) => [file, new Set()]))
for (const file of files) inspect(file)

const checked = process.argv.slice(2).map((folder) => relative(root, folder))
const problems = [...exported].flatMap(([file, names]) =>
  checked.length === 0 || checked.some((folder) => file.startsWith(`${folder}/`))
    ? [...names]
        .filter(([name]) => !imported.get(file).has(name))
        .map(([name, line]) => `${file}:${line}: no other file imports ${name}`)
    : [],
)
if (problems.length > 0) {
  console.error(problems.join('\n'))
  process.exit(1)
}
console.log(`Exports: ${files.length} files, each export has an importer.`)

function inspect(file) {
  const text = readFileSync(join(root, file), 'utf8')
  const { module } = parseSync(file, text)
  const names = new Map()
  for (const { entries } of module.staticExports) {
    for (const { exportName, importName, moduleRequest, start } of entries) {
      if (exportName.kind === 'Name') names.set(exportName.name, text.slice(0, start).split('\n').length)
      if (moduleRequest !== null) addImport(file, moduleRequest.value, importName.name)
    }
  }
  exported.set(file, names)
  for (const { moduleRequest, entries } of module.staticImports) {
    for (const { importName, localName } of entries) {
      const members = new RegExp(`(?<=\\b${localName.value}\\.)\\w+`, 'g')
      const used = importName.kind === 'Name' ? [importName.name] : text.match(members)
      for (const name of used ?? []) addImport(file, moduleRequest.value, name)
    }
  }
  addMentions(file, text, new Set(module.staticImports.map(({ moduleRequest }) => moduleRequest.start)))
}

function addImport(file, specifier, name) {
  imported.get(findModule(file, specifier))?.add(name)
}

/**
 * Modules that are imported on demand, or run by a thread or process: a name counts as imported if the text has it. A module that
 * runs itself in a thread names its exports as strings. Vitest calls exports of modules that its configuration names.
 */
function addMentions(file, text, imports) {
  for (const { 2: specifier, index } of text.matchAll(/(['"])([\w@./-]+\.(?:tsx?|m?js))\1/g)) {
    const target = imports.has(index) ? undefined : findModule(file, specifier)
    const words = target === file ? /(?<=')\w+(?=')/g : /\w+/g
    const names = file === 'vitest.config.ts' ? ['setup', 'teardown'] : text.match(words)
    for (const name of names ?? []) imported.get(target)?.add(name)
  }
}

/** Compiled files stand for their sources. A path without a dot begins in the sources of the package, or at the top. */
function findModule(file, specifier) {
  const [, part] = /^packages\/(\w+)\//.exec(file) ?? []
  return [
    join(dirname(file), specifier),
    specifier.replace(/^@millrace\/(\w+)\//, 'packages/$1/src/'),
    `packages/${part}/src/${specifier}`,
  ]
    .flatMap((path) => [
      path,
      path.replace(/(^|\/)dist\/(.*)\.js$/, '$1src/$2.ts'),
      path.replace(/\.js$/, '.ts'),
    ])
    .find((path) => known.has(path))
}

function listSources(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return ['node_modules', 'dist'].includes(entry.name) ? [] : listSources(path)
    return /\.(tsx?|mjs|js)$/.test(entry.name) ? [path] : []
  })
}
