import { lstat, mkdir } from 'node:fs/promises'

/** Creates the folder for this user alone. Refuses a folder that another user owns or may write to. */
export async function makeOwnFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 })
  await requireOwnFolder(path)
}

/** In a world-writable place such as /tmp, the folder may belong to another user. */
export async function requireOwnFolder(path: string): Promise<void> {
  const uid = process.getuid?.() ?? -1
  const found = await lstat(path)
  if (!found.isDirectory()) throw new Error(`${path} is not a folder.`)
  const isOwn = uid === -1 || found.uid === uid || found.uid === 0
  if (!isOwn || (found.mode & 0o022) !== 0) {
    const why = isOwn ? 'Other users may write to it' : 'It belongs to another user'
    throw new Error(`${path} cannot be used. ${why}. Remove it, or name another folder with --sockets-path.`)
  }
}
