// A small root file system as a tar, made of this machine's programs and their libraries.
import { execFile } from 'node:child_process'
import { readFile, realpath } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import tar from 'tar-stream'

const run = promisify(execFile)

const basicPrograms = [
  'sh',
  'cat',
  'chroot',
  'cp',
  'du',
  'false',
  'ls',
  'mkdir',
  'printenv',
  'rm',
  'sleep',
  'touch',
  'true',
]

/** `more` are further programs: names in the PATH, or paths. */
export async function rootFilesystem(more: readonly string[] = []): Promise<tar.Pack> {
  const pack = tar.pack()
  const add = (name: string, body: string | Buffer, mode = 0o644) => pack.entry({ name, mode }, body)
  for (const name of ['bin/', 'etc/', 'lib/', 'lib64/', 'root/', 'usr/', 'usr/bin/', 'tmp/']) {
    pack.entry({ name, type: 'directory', mode: name === 'tmp/' ? 0o1777 : 0o755 })
  }
  add('etc/one', 'one\n')
  add('etc/two', 'two\n')
  add('etc/passwd', 'root:x:0:0:root:/root:/bin/sh\n')
  add('etc/group', 'root:x:0:\n')
  const libraries = new Map<string, string>()
  for (const program of [...basicPrograms, ...more]) {
    const path = await findProgram(program)
    add(`bin/${basename(program)}`, await readFile(path), 0o755)
    for (const library of await librariesOf(path)) libraries.set(library, await realpath(library))
  }
  for (const [library, path] of libraries) {
    const name = library.startsWith('/lib64/') ? library.slice(1) : `lib/${basename(library)}`
    add(name, await readFile(path), 0o755)
  }
  pack.finalize()
  return pack
}

/** Searches the PATH itself, because `command -v false` of a shell names its builtin. */
async function findProgram(name: string): Promise<string> {
  const folders = name.startsWith('/')
    ? ['']
    : ['/bin', '/usr/bin', ...(process.env['PATH'] ?? '').split(':')]
  for (const folder of folders) {
    const path = await realpath(join(folder, name)).catch(() => null)
    if (path !== null) return path
  }
  throw new Error(`This machine has no ${name}.`)
}

async function librariesOf(path: string): Promise<string[]> {
  const { stdout } = await run('ldd', [path]).catch(() => ({ stdout: '' }))
  return stdout
    .split('\n')
    .map((line) => /(\/\S+) \(0x/.exec(line)?.[1])
    .filter((library) => library !== undefined)
}
