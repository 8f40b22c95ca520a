import { lstat, mkdir } from 'node:fs/promises'

/** Makes the folder for this user alone. Refuses one that another user has made, or may put files into. */
export async function makeOwnFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 })
  await requireOwnFolder(path)
}

/** A folder in a place that everybody writes to, such as /tmp, may be another user's. */
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
