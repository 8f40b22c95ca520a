/*
 * Puts the compiled packages and their libraries into a few files: Node takes half a start to find and read more than a
 * thousand. Nothing depends on it; without a bundle the program runs as it was compiled.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundles, currentBundle } from '../packages/cli/bin/bundle.js'

const packages = fileURLToPath(new URL('../packages/', import.meta.url))
const folder = fileURLToPath(bundles)

/** A library that is native, or that looks for files beside its own, is left where it is. */
const external = [/^@node-rs\/argon2$/, /^dockerode$/, /^pg-native$/]

/** Running processes may still load parts of the one before. */
const kept = 2

/** `libraries` says which versions are installed. */
export function isBundled(libraries) {
  const bundle = currentBundle()
  const note = bundle && new URL('libraries', bundle)
  return note !== null && existsSync(note) && readFileSync(note, 'utf8') === libraries
}

export async function bundle(libraries) {
  await bundleRunner()
  const target = fileURLToPath(currentBundle())
  const partial = join(folder, `.partial-${process.pid}`)
  rmSync(partial, { recursive: true, force: true })
  mkdirSync(partial, { recursive: true })
  await write(partial)
  writeFileSync(join(partial, 'libraries'), libraries)
  rmSync(target, { recursive: true, force: true })
  renameSync(partial, target)
  removeOld(folder)
}

async function write(dir) {
  // Only who builds needs it: it is no part of an installation for production.
  const { rolldown } = await import('rolldown')
  const made = await rolldown({
    input: { main: join(packages, 'cli', 'dist', 'main.js') },
    platform: 'node',
    external,
    plugins: [ourFiles(dir), plainSockets],
    logLevel: 'silent',
  })
  // Of CommonJS Node can keep what V8 made of it: see packages/cli/bin/compiled-code.js.
  const names = { entryFileNames: '[name].cjs', chunkFileNames: '[name]-[hash].cjs' }
  // Without source maps, which cost seconds to read when the first error is logged. The code is not minified, so a trace
  // shows the names of functions, and a comment above each part of a file says which source it was made of.
  await made.write({ dir, format: 'cjs', ...names })
  await made.close()
  writeInAscii(dir)
}

/** The agent of hosted queues in one file: in a fresh container every one that Node has to find is time. */
async function bundleRunner() {
  const { rolldown } = await import('rolldown')
  const { runnerBundle } = await import('../packages/server/dist/hosted/runner.js')
  const file = await runnerBundle()
  const dir = dirname(file)
  mkdirSync(dir, { recursive: true })
  const input = join(packages, 'agent', 'dist', 'hosted.js')
  const made = await rolldown({ input, platform: 'node', plugins: [ourFiles(dir)], logLevel: 'silent' })
  const partial = join(dir, `.partial-${process.pid}.js`)
  await made.write({ file: partial, format: 'esm', codeSplitting: false })
  await made.close()
  renameSync(partial, file)
  removeOld(dir)
}

/** They keep looking for other files where they were compiled to. */
const ourFiles = (dir) => ({
  name: 'our-files',
  load(id) {
    if (!id.startsWith(packages) || id.includes('node_modules') || !id.endsWith('.js')) return null
    const here = `new URL(${JSON.stringify(relative(dir, id))}, import.meta.url).href`
    return readFileSync(id, 'utf8').replaceAll('import.meta.url', here)
  },
})

/**
 * The database's driver makes an answer to a web request to see whether it runs at Cloudflare, for which Node loads all
 * of `fetch`: an eighth of what a command takes.
 */
const plainSockets = {
  name: 'plain-sockets',
  load(id) {
    if (!id.endsWith(join('pg', 'lib', 'stream.js'))) return null
    return readFileSync(id, 'utf8').replace("typeof Response === 'function'", 'false')
  },
}

/** V8 keeps a text with one other character in it at two bytes for each, and Node takes twice as long to read it. */
function writeInAscii(dir) {
  for (const name of readdirSync(dir)) {
    if (!name.endsWith('.cjs')) continue
    const text = readFileSync(join(dir, name), 'utf8')
    writeFileSync(join(dir, name), text.replace(/\\?[^\0-\x7f]|\\[^]/g, inAscii))
  }
}

/** Of a character, with the backslash before it if there is one; what is ASCII stays. */
function inAscii(found) {
  const unit = found.charCodeAt(found.length - 1)
  return unit < 128 ? found : `\\u${unit.toString(16).padStart(4, '0')}`
}

function removeOld(dir) {
  const found = readdirSync(dir).map((name) => join(dir, name))
  const newestFirst = found.sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)
  for (const path of newestFirst.slice(kept)) rmSync(path, { recursive: true, force: true })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundle(process.argv[2])
