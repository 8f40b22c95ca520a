// The users of jobs, where the server runs as root.
import { createHash } from 'node:crypto'
import { findNameOf, type Owner } from '../db/embedded/privileges.ts'
import { run } from '../db/embedded/processes.ts'

/** An operator can create this account for trusted jobs, for example with SSH keys in its home. */
const accountName = 'millrace-job'
// Between the ranges that distributions and systemd use, and below 65536, the limit in many containers.
const firstUid = 60_600
const lastUid = 61_183

interface JobAccount extends Owner {
  home: string
}

/** Users without names, as many as asked for. The same at every start of this installation. */
export async function findJobUsers(dataDir: string, count: number): Promise<Owner[]> {
  const digest = createHash('sha256').update(dataDir).digest('hex')
  const all = lastUid - firstUid + 1
  const start = Number.parseInt(digest.slice(0, 6), 16)
  const found: Owner[] = []
  for (let step = 0; found.length < count; step++) {
    const uid = firstUid + ((start + step) % all)
    // A user with a name belongs to someone else.
    if (step < all && (await findNameOf(uid)) !== undefined) continue
    found.push({ uid, gid: uid })
  }
  return found
}

export async function findJobAccount(): Promise<JobAccount | undefined> {
  const { code, stdout } = await run({ file: 'getent', args: ['passwd', accountName], options: {} })
  const [, , uid, gid, , home] = stdout.trim().split(':')
  if (code !== 0 || home === undefined) return undefined
  return { uid: Number(uid), gid: Number(gid), home }
}
