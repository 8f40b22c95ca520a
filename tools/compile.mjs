/*
 * Compiles the sources to JavaScript, in `dist/` beside each `src/`. It checks no types, so that it takes a few seconds and
 * tests run while some other file has a type error: `npm run check` checks types. It runs before anything but the
 * packages of npm is there, so it is plain JavaScript.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { isFresh } from './freshness.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

export const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')

/** The folders that are compiled: packages first. The web interface is built by its own bundler. */
const folders = () => {
  const { references } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8'))
  return references.map(({ path }) => join(root, path))
}

const stampOf = (folder) => join(folder, 'dist', '.sources')

export function isCompiled() {
  return folders().every((folder) => !existsSync(join(folder, 'src')) || isFolderFresh(folder))
}

/** Compiles the folders whose sources have changed. */
export async function compile() {
  const stale = folders().filter((folder) => !isFolderFresh(folder))
  await Promise.all(stale.map(compileFolder))
}

const isFolderFresh = (folder) =>
  isFresh(
    stampOf(folder),
    { files: [...settingsOf(folder), ...sourcesOf(folder).map((path) => join(folder, 'src', path))] },
    () => hashOf(folder),
  )

async function compileFolder(folder) {
  const hash = hashOf(folder)
  // Removed first, so that an interrupted compilation is repeated.
  rmSync(stampOf(folder), { force: true })
  // Each file is translated on its own, as `isolatedModules` and `verbatimModuleSyntax` allow.
  const alone = ['--noCheck', '--noResolve', '--composite', 'false', '--incremental', 'false']
  const onlyCode = ['--declaration', 'false', '--emitDeclarationOnly', 'false']
  const args = [compiler, '-p', folder, '--tsBuildInfoFile', 'null', ...alone, ...onlyCode]
  try {
    await promisify(execFile)(process.execPath, args, { cwd: root })
  } catch (error) {
    throw new Error(error.stdout?.trim() || error.message, { cause: error })
  }
  deleteOutdated(folder)
  writeFileSync(stampOf(folder), hash)
}

/** Code of sources that are gone would still be found by imports. */
function deleteOutdated(folder) {
  const compiled = (path) => /\.js(\.map)?$/.test(path) && !/(^|\/)(bundled|site)\//.test(path)
  for (const path of listFiles(join(folder, 'dist')).filter(compiled)) {
    const source = join(folder, 'src', path.replace(/\.js(\.map)?$/, '.ts'))
    if (!existsSync(source)) rmSync(join(folder, 'dist', path))
  }
}

const settingsOf = (folder) => [join(root, 'tsconfig.base.json'), join(folder, 'tsconfig.json')]

const sourcesOf = (folder) =>
  listFiles(join(folder, 'src'))
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .sort()

function hashOf(folder) {
  const hash = createHash('sha256')
  for (const file of settingsOf(folder)) hash.update(readFileSync(file))
  for (const path of sourcesOf(folder))
    hash.update(`${path}\n`).update(readFileSync(join(folder, 'src', path)))
  return hash.digest('hex')
}

function listFiles(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath ?? entry.path, entry.name)))
}
