// The runner as containers get it: this checkout's agent with what it imports, this very Node, and the libraries that
// Node needs, so that it runs in any image that has a shell, whatever C library that brings.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import tar from 'tar-stream'
import type { Runner } from './docker-runner.ts'
import { runnerPath } from './driver.ts'

interface RunnerFile {
  name: string
  mode: number
  size: number
  source: { kind: 'file'; path: string } | { kind: 'text'; text: string }
}

export async function loadRunner(): Promise<Runner> {
  const node = await nodeFiles()
  const files = [...node.files, ...(await programFiles())].sort((a, b) => a.name.localeCompare(b.name))
  const hash = createHash('sha256')
  for (const { name, mode, size, source } of files) {
    // Node and its libraries are large, and are what their version says.
    const isLarge = source.kind === 'file' && !source.path.endsWith('.js')
    hash.update(`${name} ${mode} ${size} ${isLarge ? process.version : ''}\n`)
    if (source.kind === 'text') hash.update(source.text)
    else if (!isLarge) hash.update(await readFile(source.path))
  }
  return { digest: hash.digest('hex').slice(0, 32), archive: () => pack(files), node: node.start }
}

const library = `${runnerPath}/lib`

/** Without the loader's path, the image's own C library has to do. */
async function nodeFiles(): Promise<{ files: RunnerFile[]; start: string[] }> {
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
      `export MILLRACE_RUNNER_NODE=${runnerPath}/bin/run-node\nexec ${command} ${modules}/@millrace/agent/dist/hosted.js "$@"`,
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

async function programFiles(): Promise<RunnerFile[]> {
  const packages = fileURLToPath(new URL('../../../', import.meta.url))
  const yaml = dirname(createRequire(join(packages, 'engine/package.json')).resolve('yaml/package.json'))
  const folders: Array<[string, string]> = [
    ['@millrace/agent', join(packages, 'agent')],
    ['@millrace/engine', join(packages, 'engine')],
    ['@millrace/protocol', join(packages, 'protocol')],
    ['yaml', yaml],
  ]
  const files = await Promise.all(
    folders.map(async ([name, folder]) => [
      await aFile(`node_modules/${name}/package.json`, join(folder, 'package.json')),
      ...(await scriptsIn(join(folder, 'dist'), `node_modules/${name}/dist`)),
    ]),
  )
  return files.flat()
}

async function scriptsIn(folder: string, name: string): Promise<RunnerFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const scripts = entries.filter((entry) => entry.isFile() && entry.name.endsWith('.js'))
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
