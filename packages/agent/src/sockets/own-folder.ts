import { lstat, mkdir } from 'node:fs/promises'
import { codeOf } from '../http/exchange.ts'

/** Creates the folder for this user alone. Refuses a folder that another user owns or may write to. */
export async function makeOwnFolder(path: string, option = '--sockets-path'): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error
  })
  await requireOwnFolder(path, option)
}

/** In a world-writable place such as /tmp, the folder may belong to another user. */
export async function requireOwnFolder(path: string, option = '--sockets-path'): Promise<void> {
  const uid = process.getuid?.() ?? -1
  const found = await lstat(path)
  if (!found.isDirectory()) throw new Error(`${path} is not a folder. Name another one with ${option}.`)
  const isOwn = uid === -1 || found.uid === uid || found.uid === 0
  if (!isOwn || (found.mode & 0o022) !== 0) {
    const why = isOwn ? 'Other users may write to it' : 'It belongs to another user'
    throw new Error(`${path} cannot be used. ${why}. Remove it, or name another folder with ${option}.`)
  }
}
