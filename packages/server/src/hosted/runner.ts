// The runner for containers: this checkout's agent with its dependencies, this process's Node, and the libraries that Node
// needs. It runs in any image that has a shell, with any C library.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream, existsSync, type Dirent } from 'node:fs'
import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import tar from 'tar-stream'
import { packageFolder } from '../lib/package-files.ts'
import { runnerPath, type Runner } from './driver.ts'

interface RunnerFile {
  name: string
  mode: number
  size: number
  source: { kind: 'file'; path: string } | { kind: 'text'; text: string }
}

export async function loadRunner(): Promise<Runner> {
  const program = await programFiles()
  const bundle = await bundlePath(program)
  const isBundled = existsSync(bundle)
  const node = await nodeFiles(isBundled ? 'bundled/hosted.js' : 'hosted.js')
  const one = isBundled ? [await aFile(`node_modules/${agent}/dist/bundled/hosted.js`, bundle)] : []
  const files = [...node.files, ...program, ...one].sort(byName)
  return { digest: await digestOf(files), archive: () => pack(files), node: node.start }
}

/** Where tools/bundle.mjs writes the agent and its imports as one file, which Node loads in a third of the time. */
export const runnerBundle = async (): Promise<string> => bundlePath(await programFiles())

/** The name contains a hash of the sources, so an outdated bundle is not found. */
const bundlePath = async (program: readonly RunnerFile[]) =>
  join(packages, 'agent', 'dist', 'bundled', `${await digestOf(program.toSorted(byName))}.js`)

const packages = dirname(packageFolder)
const agent = '@millrace/agent'

export const agentFolder = join(packages, 'agent')

const byName = (a: RunnerFile, b: RunnerFile) => a.name.localeCompare(b.name)

async function digestOf(files: readonly RunnerFile[]): Promise<string> {
  const hash = createHash('sha256')
  for (const { name, mode, size, source } of files) {
    // Node and its libraries are large, so their version stands for their contents.
    const isLarge = source.kind === 'file' && !/\.([cm]?js|json)$/.test(source.path)
    hash.update(`${name} ${mode} ${size} ${isLarge ? process.version : ''}\n`)
    if (source.kind === 'text') hash.update(source.text)
    else if (!isLarge) hash.update(await readFile(source.path))
  }
  return hash.digest('hex').slice(0, 32)
}

const library = `${runnerPath}/lib`

/** If the loader is not found, Node uses the image's C library. */
async function nodeFiles(program: string): Promise<{ files: RunnerFile[]; start: string[] }> {
  const libraries = await librariesOf(process.execPath)
  const loader = libraries.find((path) => /\/ld-[^/]*$/.test(path))
  const node = `${runnerPath}/bin/node`
  const start =
    loader === undefined ? [node] : [`${library}/${basename(loader)}`, '--library-path', library, node]
  const command = start.join(' ')
  const files = [
    await aFile('bin/node', process.execPath),
    aScript('bin/run-node', `exec ${command} "$@"`),
    aScript(
      'run',
      `export MILLRACE_RUNNER_NODE=${runnerPath}/bin/run-node\nexec ${command} ${modules}/${agent}/dist/${program} "$@"`,
    ),
    ...(await Promise.all(libraries.map((path) => aFile(`lib/${basename(path)}`, path)))),
  ]
  return { files, start }
}

const modules = `${runnerPath}/node_modules`

async function librariesOf(program: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)('ldd', [program]).catch(() => ({ stdout: '' }))
  return stdout.split('\n').flatMap((line) => /(\/\S+) \(0x/.exec(line)?.[1] ?? [])
}

/** The files of the agent and of all its dependencies. */
export async function programFiles(): Promise<RunnerFile[]> {
  const files: RunnerFile[] = []
  for (const [name, folder] of await programPackages()) {
    files.push(await aFile(`node_modules/${name}/package.json`, join(folder, 'package.json')))
    files.push(...(await scriptsIn(join(folder, 'dist'), `node_modules/${name}/dist`)))
  }
  return files
}

/** The folders of the agent and of all its dependencies, by the names of the packages. */
export async function programPackages(): Promise<ReadonlyMap<string, string>> {
  const found = new Map([[agent, join(packages, 'agent')]])
  for (const [, folder] of found) {
    const { dependencies = {} } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
      dependencies?: Record<string, string>
    }
    for (const needed of Object.keys(dependencies)) {
      if (!found.has(needed)) found.set(needed, findPackage(folder, needed))
    }
  }
  return found
}

/** Searches the folders as Node does, since not every package exports its package.json. */
function findPackage(from: string, name: string): string {
  const places = createRequire(join(from, 'package.json')).resolve.paths(name) ?? []
  const folder = places.map((place) => join(place, name)).find((path) => existsSync(join(path, 'dist')))
  if (folder === undefined) throw new Error(`The runner needs ${name}, which is not installed, or not built.`)
  return folder
}

async function scriptsIn(folder: string, name: string): Promise<RunnerFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const isScript = ({ name: file, parentPath }: Dirent) =>
    /\.[cm]?js$/.test(file) && basename(parentPath) !== 'bundled'
  const scripts = entries.filter((entry) => entry.isFile() && isScript(entry))
  return Promise.all(
    scripts.map((entry) => {
      const path = join(entry.parentPath, entry.name)
      return aFile(name + path.slice(folder.length), path)
    }),
  )
}

async function aFile(name: string, path: string): Promise<RunnerFile> {
  const real = await realpath(path)
  const { size, mode } = await stat(real)
  const isProgram = (mode & 0o111) !== 0
  return { name, mode: isProgram ? 0o755 : 0o644, size, source: { kind: 'file', path: real } }
}

function aScript(name: string, body: string): RunnerFile {
  const text = `#!/bin/sh\n${body}\n`
  return { name, mode: 0o755, size: Buffer.byteLength(text), source: { kind: 'text', text } }
}

function pack(files: readonly RunnerFile[]): Readable {
  const packing = tar.pack()
  const add = async () => {
    for (const { name, mode, size, source } of files) {
      const body = source.kind === 'text' ? Readable.from([source.text]) : createReadStream(source.path)
      await pipeline(body, packing.entry({ name, mode, size }))
    }
    packing.finalize()
  }
  add().catch((error: unknown) => packing.destroy(error instanceof Error ? error : new Error(String(error))))
  return Readable.from(packing)
}
