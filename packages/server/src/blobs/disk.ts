// Objects as files. A file is named by the hash of its key, so a key can never act as a path. A file is written under a
// temporary name, synced, and then renamed.
import { createHash, randomUUID } from 'node:crypto'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { isUuid } from '../lib/ids.ts'
import { checkKey, exactly, storeFailed, type BlobStore } from './store.ts'

export function diskStore(root: string): BlobStore {
  const temporary = join(root, 'unfinished')
  const objectPath = (key: string) => {
    const name = createHash('sha256').update(checkKey(key)).digest('hex')
    return join(root, name.slice(0, 3), name)
  }
  const partsDir = (uploadId: string) => join(temporary, `parts-${checkUploadId(uploadId)}`)
  const write = async (path: string, body: AsyncIterable<Buffer>, size: number) => {
    const unfinished = join(temporary, randomUUID())
    await makeDir(temporary)
    try {
      await writeDurably(unfinished, body, size)
      await makeDir(dirname(path))
      await rename(unfinished, path)
      await syncDir(dirname(path))
    } catch (error) {
      await rm(unfinished, { force: true })
      throw error
    }
  }

  return {
    put: (key, body, size) => orFailed(write(objectPath(key), body, size)),
    async get(key, range) {
      const file = await orFailed(orNull(open(objectPath(key))))
      return file === null ? null : file.createReadStream(range)
    },
    async head(key) {
      const found = await orFailed(orNull(stat(objectPath(key))))
      return found === null ? null : { size: found.size }
    },
    delete: (key) => orFailed(rm(objectPath(key), { force: true })),

    async startParts() {
      const uploadId = randomUUID()
      await orFailed(makeDir(partsDir(uploadId)))
      return uploadId
    },
    async putPart(_key, uploadId, part, body, size) {
      const etag = `"${randomUUID()}"`
      const path = join(partsDir(uploadId), String(checkPart(part)))
      await orFailed(write(path, body, size))
      return etag
    },
    async completeParts(key, uploadId, parts) {
      const path = objectPath(key)
      const files = parts.map(({ part }) => join(partsDir(uploadId), String(checkPart(part))))
      const putTogether = async () => {
        const sizes = await Promise.all(files.map((file) => stat(file)))
        await write(
          path,
          concatenate(files),
          sizes.reduce((sum, { size }) => sum + size, 0),
        )
      }
      await orFailed(
        putTogether().catch(async (error: unknown) => {
          // Another request may have completed the upload meanwhile, and deleted its parts.
          if (!isMissing(error) || (await orNull(stat(path))) === null) throw error
        }),
      )
      await orFailed(rm(partsDir(uploadId), { recursive: true, force: true }))
    },
    abortParts: (_key, uploadId) => orFailed(rm(partsDir(uploadId), { recursive: true, force: true })),

    direct: null,
    async tidy(olderThan) {
      for (const name of (await orFailed(orNull(readdir(temporary)))) ?? []) {
        const path = join(temporary, name)
        const found = await orNull(stat(path))
        if (found !== null && found.mtime < olderThan) await rm(path, { recursive: true, force: true })
      }
    },
  }
}

async function* concatenate(files: readonly string[]): AsyncGenerator<Buffer> {
  for (const path of files) {
    const file = await open(path)
    yield* file.createReadStream() as AsyncIterable<Buffer>
  }
}

async function writeDurably(path: string, body: AsyncIterable<Buffer>, size: number): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  await pipeline(body, exactly(size), file.createWriteStream({ flush: true }))
}

const makeDir = (path: string) => mkdir(path, { recursive: true, mode: 0o700 })

/** A renamed file survives a crash only if its directory is synced too. */
async function syncDir(path: string): Promise<void> {
  const dir = await open(path)
  try {
    await dir.sync()
  } finally {
    await dir.close()
  }
}

function checkUploadId(id: string): string {
  if (!isUuid(id)) throw new Error('An upload has another id.')
  return id
}

function checkPart(part: number): number {
  if (!Number.isInteger(part) || part < 1) throw new Error('Parts are numbered from 1.')
  return part
}

async function orNull<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

const isMissing = (error: unknown) => error instanceof Error && Reflect.get(error, 'code') === 'ENOENT'

/** Converts errors of the file system into failures of the store. Errors of the body pass unchanged. */
async function orFailed<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw error instanceof Error && Reflect.has(error, 'errno') ? storeFailed(error) : error
  }
}
