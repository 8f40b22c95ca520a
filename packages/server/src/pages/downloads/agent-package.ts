// The agent as an npm package, made of the files of this installation. Machines get it from their own server, because
// whoever registers our name in a public registry first could take their tokens. It needs no other package.
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { buffer } from 'node:stream/consumers'
import { gzip } from 'node:zlib'
import tar from 'tar-stream'
import { programFiles } from '../../hosted/runner.ts'
import { packageFolder } from '../../lib/package-files.ts'

export interface Download {
  name: string
  bytes: Buffer
  sha256: string
}

interface PackedFile {
  /** Below the folder of the package. */
  name: string
  mode: number
  bytes: Buffer
}

const packages = dirname(packageFolder)
const cli = join(packages, 'cli')
const program = 'agent-main.js'
/** npm changes only the `node_modules` at the top of a package. */
const modules = 'lib/node_modules'
/** Same files, same bytes: all servers of an installation hand out the same package. */
const mtime = new Date('1985-10-26T08:15:00Z')

/** Throws if this installation has no agent, as before a build. */
export async function packAgent(): Promise<Download> {
  const { version } = JSON.parse(await readFile(join(cli, 'package.json'), 'utf8')) as { version: string }
  const files = [manifest(version), ...(await commandLineFiles(version)), ...(await agentFiles())]
  const packing = tar.pack()
  for (const { name, mode, bytes } of files.toSorted((a, b) => (a.name < b.name ? -1 : 1)))
    packing.entry({ name: `package/${name}`, mode, mtime }, bytes)
  packing.finalize()
  const bytes = await promisify(gzip)(await buffer(packing))
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return { name: `millrace-agent-${version}.tgz`, bytes, sha256 }
}

function manifest(version: string): PackedFile {
  return json('package.json', {
    name: 'millrace-agent',
    version,
    description: 'Agents of a Millrace server.',
    license: 'SEE LICENSE IN lib',
    type: 'module',
    bin: { millrace: `${modules}/@millrace/cli/bin/agent.js` },
    engines: { node: '>=20' },
  })
}

async function agentFiles(): Promise<PackedFile[]> {
  const found = await programFiles()
  return Promise.all(
    found.map(async ({ name, mode, source }) => ({
      name: `lib/${name}`,
      mode,
      bytes: source.kind === 'text' ? Buffer.from(source.text) : await readFile(source.path),
    })),
  )
}

/** The program with all files that it imports: one in an installed package, where it is bundled; some in a clone. */
async function commandLineFiles(version: string): Promise<PackedFile[]> {
  const own = `${modules}/@millrace/cli`
  const files = [
    json(`${own}/package.json`, { name: '@millrace/cli', version, type: 'module' }),
    await fileOf(join(cli, 'bin/agent.js'), `${own}/bin/agent.js`, 0o755),
    await fileOf(join(cli, 'bin/stop-with-parent.js'), `${own}/bin/stop-with-parent.js`),
  ]
  const paths = new Set([join(cli, 'dist', program)])
  const libraries = new Set<string>()
  for (const path of paths) {
    const file = await fileOf(path, `${own}/${relative(cli, path)}`)
    files.push(file)
    for (const imported of importsIn(file.bytes.toString())) {
      if (imported.startsWith('.')) paths.add(join(dirname(path), imported))
      else if (!/^(?:node:|@millrace\/agent\/)/.test(imported)) libraries.add(imported)
    }
  }
  const copied = await Promise.all([...libraries].map((name) => libraryFiles(name)))
  return [...files, ...copied.flat()]
}

const importStatement =
  /^(?:import|export)\s[^'";]*?\bfrom\s*['"]([^'"\n]+)['"]|^import\s*['"]([^'"\n]+)['"]/gm
/** Comments of libraries name types like this. */
const importCall = /^(?!\s*(?:\*|\/[*/])).*\bimport\(['"]([^'"\n]+)['"]\)/gm

const importsIn = (text: string): string[] =>
  [...text.matchAll(importStatement), ...text.matchAll(importCall)].map(
    ([, named = '', bare = '']) => named || bare,
  )

async function libraryFiles(name: string): Promise<PackedFile[]> {
  const places = createRequire(join(cli, 'package.json')).resolve.paths(name) ?? []
  const folder = places
    .map((place) => join(place, name))
    .find((path) => existsSync(join(path, 'package.json')))
  if (folder === undefined) throw new Error(`The agent needs ${name}, which is not installed.`)
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const wanted = entries.filter(
    (entry) => entry.isFile() && /\.[cm]?js$|^package\.json$|^LICENSE/.test(entry.name),
  )
  return Promise.all(
    wanted.map((entry) => {
      const path = join(entry.parentPath, entry.name)
      return fileOf(path, `${modules}/${name}/${relative(folder, path)}`)
    }),
  )
}

const fileOf = async (path: string, name: string, mode = 0o644): Promise<PackedFile> => ({
  name,
  mode,
  bytes: await readFile(path),
})

const json = (name: string, value: unknown): PackedFile => ({
  name,
  mode: 0o644,
  bytes: Buffer.from(`${JSON.stringify(value, null, 2)}\n`),
})
