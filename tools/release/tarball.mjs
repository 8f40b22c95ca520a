// Reads and writes npm's tarballs. The same files give the same bytes, so a package can be built again and compared.
import { createReadStream, createWriteStream, readdirSync, readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, relative } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'

/** A library of the server, which may not be installed yet. */
const loadTar = () =>
  createRequire(new URL('../../packages/server/package.json', import.meta.url))('tar-stream')

/** Every file in an npm package is below this folder. */
const top = 'package'

/** The time that npm gives to all files. */
const mtime = new Date('1985-10-26T08:15:00Z')

export async function writeTarball(folder, file) {
  const packing = loadTar().pack()
  const written = pipeline(packing, createGzip({ level: 9 }), createWriteStream(file))
  for (const path of listFiles(folder)) {
    const mode = (statSync(path).mode & 0o100) === 0 ? 0o644 : 0o755
    packing.entry({ name: join(top, relative(folder, path)), mode, mtime }, readFileSync(path))
  }
  packing.finalize()
  await written
}

/** Calls `take` with the path inside the package and the contents of each file. */
export async function readTarball(file, take) {
  const entries = loadTar().extract()
  const read = pipeline(createReadStream(file), createGunzip(), entries)
  for await (const entry of entries) {
    const { name, type } = entry.header
    const chunks = await Readable.from(entry).toArray()
    if (type === 'file') take(name.slice(name.indexOf('/') + 1), Buffer.concat(chunks))
  }
  await read
}

function listFiles(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}
