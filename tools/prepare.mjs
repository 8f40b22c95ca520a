/*
 * Prepares a fresh clone: installs the packages of package-lock.json and compiles. It runs before anything is installed
 * and on every supported Node, so it is plain JavaScript without dependencies.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs'
import { constants as system, homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isBundled } from './bundle.mjs'
import { compile, compiler, isCompiled } from './compile.mjs'
import { withLock } from './lock.mjs'
import { step } from './progress.mjs'
import { isSiteBuilt, markSite } from './web-site.mjs'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))

const localCache = join(root, '.npm-cache')
const modules = join(root, 'node_modules')
const stampFile = join(modules, '.millrace-installed')

/** An error that the operator can correct, so the message is enough. */
export class PrepareError extends Error {}

/**
 * Installs and builds if necessary. Without `dev`, development packages may be missing if everything is built already, as
 * in a production image. `only: 'code'` leaves out what only a running program needs: the web interface and the bundle.
 */
export async function prepare({ dev, only }) {
  if (!isWritable(root) || !isWritable(localCache)) return checkReadOnly(dev)
  await withLock(join(localCache, 'prepare.lock'), async () => {
    if (!isInstalled(dev) || !(isBuilt() || existsSync(compiler))) await step('Installing packages', install)
    if (!existsSync(compiler)) return
    if (!isCompiled()) await step('Compiling', compileOrThrow)
    if (only === 'code' || !canBundle()) return
    const parts = [!isSiteBuilt(lockHash()) && buildSite, !isBundled(lockHash()) && bundleOrReport]
    const missing = parts.filter((part) => part !== false)
    if (missing.length > 0) {
      await step('Building the web interface and the bundle', () =>
        Promise.all(missing.map((part) => part())),
      )
    }
  })
}

/** For entry points: prints a sentence and exits with 1 instead of printing a stack. */
export async function prepareOrExit(options) {
  try {
    await prepare(options)
  } catch (error) {
    if (!(error instanceof PrepareError)) throw error
    console.error(error.message)
    process.exit(1)
  }
}

function checkReadOnly(dev) {
  if (isInstalled(dev) && isBuilt()) return
  throw new PrepareError(
    `${root} is not writable and not ready to run: give this user access, or run npm start there once as its owner.`,
  )
}

async function install() {
  const options = ['--include=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  await npm(['ci', ...options], 'The packages could not be installed')
  writeFileSync(stampFile, lockHash())
}

/** `failure` is the sentence for the operator, to which npm gives the reason. */
export async function npm(args, failure) {
  const cache = isWritable(npmCache()) ? [] : ['--cache', localCache]
  const { code, output } = await run(...npmCommand(), [...args, ...cache])
  if (code === 0) return
  // After a usage error npm prints its whole manual.
  const message = output.trim().split('\n').slice(0, 20).join('\n')
  throw new PrepareError(`${message}\n${failure}: see npm's message above, then start again.`)
}

async function compileOrThrow() {
  try {
    await compile()
  } catch (error) {
    throw new PrepareError(`${error.message}\nThe build failed: see the compiler's message above.`)
  }
}

async function buildSite() {
  const web = join(root, 'packages', 'web')
  // Tests set another one, with which React would be built for development.
  const env = { NODE_ENV: 'production' }
  await runOrThrow([join(modules, 'vite', 'bin', 'vite.js'), 'build', web, '--logLevel', 'error'], env)
  markSite(lockHash())
}

async function runOrThrow(args, env) {
  const { code, output } = await run(process.execPath, [], args, env)
  if (code !== 0) throw new PrepareError(`${output.trim()}\nThe build failed: see the message above.`)
}

/**
 * Runs in another process, because the bundler takes a gigabyte that the server would keep. A failure is only reported:
 * the compiled program runs too, and some platforms have no bundler.
 */
async function bundleOrReport() {
  const { code, output } = await run(process.execPath, [], [join(root, 'tools', 'bundle.mjs'), lockHash()])
  if (code === 0) return
  const reason = /^\w*Error: .*$/m.exec(output)?.[0] ?? output.trim()
  console.error(`The program could not be bundled, so it starts more slowly: ${reason}`)
}

/** The bundler needs a newer Node than the program: see its package.json. */
export function canBundle() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  const isNewEnough = major === 20 ? minor >= 19 : major === 22 ? minor >= 12 : major > 22
  return isNewEnough && existsSync(join(modules, 'rolldown'))
}

function isBuilt() {
  const { references } = readJson(join(root, 'tsconfig.json'))
  const packages = references.filter(({ path }) => path.startsWith('packages/'))
  return packages.every(({ path }) => existsSync(join(root, path, 'dist')))
}

/**
 * The stamp says that this lock file was installed for this platform. Without a stamp, an installation by npm is accepted
 * if npm's record has everything in the lock file.
 */
function isInstalled(dev) {
  const record = join(modules, '.package-lock.json')
  if (!existsSync(record)) return false
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === lockHash()) return true
  const installed = readJson(record).packages
  const wanted = Object.entries(readJson(join(root, 'package-lock.json')).packages)
  return wanted
    .filter(([path, entry]) => path.includes('node_modules/') && isRequired(entry, dev))
    .every(([path, { version }]) => installed[path] !== undefined && installed[path].version === version)
}

/** Optional packages are required only if they are for this platform. */
function isRequired({ os, cpu, libc, optional, devOptional, dev: isDev }, dev) {
  if (!dev && (isDev || devOptional)) return false
  if (!optional && !devOptional) return true
  return Boolean(os ?? cpu) && !libc && includes(os, process.platform) && includes(cpu, process.arch)
}

function includes(list, value) {
  return list === undefined || list.includes(value)
}

/** Names the libraries in the lock file. Our own versions are in it too, and change with a release. */
function lockHash() {
  const { packages } = readJson(join(root, 'package-lock.json'))
  const libraries = Object.entries(packages).filter(([path]) => path.includes('node_modules/'))
  const hash = createHash('sha256').update(JSON.stringify(libraries))
  return `${hash.digest('hex')} ${process.platform}-${process.arch}\n`
}

/** The npm that runs us, else the one on the path. */
function npmCommand() {
  const npm = process.env.npm_execpath
  return npm && basename(npm) === 'npm-cli.js' ? [process.execPath, [npm]] : ['npm', []]
}

function npmCache() {
  return process.env.npm_config_cache ?? join(homedir(), '.npm')
}

/** Tries to write, because permissions do not show a read-only file system or the rights of root. */
function isWritable(directory) {
  try {
    mkdirSync(directory, { recursive: true })
    rmdirSync(mkdtempSync(join(directory, '.writable-')))
    const inner = join(directory, '_cacache')
    if (existsSync(inner)) accessSync(inner, constants.W_OK)
    return true
  } catch {
    return false
  }
}

const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP']

function run(file, before, args, env = {}) {
  return new Promise((resolve) => {
    const child = spawn(file, [...before, ...args], {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    child.stdout.on('data', (chunk) => (output += chunk))
    child.stderr.on('data', (chunk) => (output += chunk))
    // A signal to this process stops the child too.
    const stop = (signal) => {
      child.kill(signal)
      process.exit(128 + system.signals[signal])
    }
    const end = (code, text) => {
      for (const signal of stopSignals) process.off(signal, stop)
      resolve({ code, output: text })
    }
    for (const signal of stopSignals) process.on(signal, stop)
    child.on('error', (error) => end(1, String(error)))
    child.on('close', (code) => end(code, output))
  })
}

function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await prepareOrExit({ dev: true })
