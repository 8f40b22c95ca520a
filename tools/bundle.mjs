/*
 * Puts the compiled packages and their libraries into a few files, because Node takes half of a start to find and read
 * more than a thousand. The bundle is optional: without one the program runs as it was compiled.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { currentBundle } from '../packages/cli/bin/bundle.js'

const packages = fileURLToPath(new URL('../packages/', import.meta.url))
const modules = fileURLToPath(new URL('../node_modules/', import.meta.url))

/** Native code and a compiler. Only the first is used; the callers of the others do without. */
const external = ['@node-rs/argon2', 'pg-native', 'cpu-features', /\/sshcrypto\.node$/, 'typescript']

/** Running processes may still load parts of the previous bundle. */
const keptBundles = 2

/** `libraries` names the installed versions. */
export function isBundled(libraries) {
  const bundle = currentBundle()
  const note = bundle && new URL('libraries', bundle)
  return note !== null && existsSync(note) && readFileSync(note, 'utf8') === libraries
}

export async function bundle(libraries) {
  const { runnerBundle } = await import('../packages/server/dist/hosted/runner.js')
  await replace(await runnerBundle(), (file) =>
    write({ hosted: 'agent/dist/hosted.js' }, { file, codeSplitting: false }),
  )
  const { jobBundle } = await import('../packages/server/dist/program/job-program.js')
  await replace(jobBundle(), writeJobProgram)
  await replace(fileURLToPath(currentBundle()).slice(0, -1), async (dir) => {
    await writeProgram(dir)
    writeFileSync(join(dir, 'libraries'), libraries)
  })
}

/** Writes the program of a local agent's job. Returns the files it is made of. */
export const writeJobProgram = (file) =>
  write({ program: 'agent/dist/separate/program.js' }, { file, codeSplitting: false, format: 'cjs' })

/** Writes the `millrace` program. Returns the files it is made of. */
export async function writeProgram(dir) {
  const files = await write({ main: 'cli/dist/main.js' }, { dir })
  // dockerode reads them from `__dirname` when it builds with BuildKit.
  cpSync(join(modules, 'dockerode', 'lib', 'proto'), join(dir, 'proto'), { recursive: true })
  return files
}

/**
 * `programs` are the compiled files by the names of their bundles. Returns the files they are made of. The bundles are not
 * minified and have no source maps, which take seconds to read when the first error is logged.
 */
export async function write(programs, output) {
  // Imported here, because an installation for production has no bundler.
  const { rolldown } = await import('rolldown')
  const made = await rolldown({
    input: Object.fromEntries(Object.entries(programs).map(([name, path]) => [name, join(packages, path)])),
    platform: 'node',
    external,
    // CommonJS libraries use it, and a bundle is an ES module.
    transform: { define: { __dirname: 'import.meta.dirname' } },
    logLevel: 'silent',
  })
  const { output: written } = await made.write({ format: 'esm', ...output })
  await made.close()
  return written.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
}

/** The target appears whole or not at all. */
async function replace(target, make) {
  const folder = dirname(target)
  const partial = join(folder, `.partial-${process.pid}`)
  rmSync(partial, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  await make(partial)
  rmSync(target, { recursive: true, force: true })
  renameSync(partial, target)
  deleteOld(folder)
}

function deleteOld(folder) {
  const found = readdirSync(folder).map((name) => join(folder, name))
  const newestFirst = found.sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)
  for (const path of newestFirst.slice(keptBundles)) rmSync(path, { recursive: true, force: true })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundle(process.argv[2])
