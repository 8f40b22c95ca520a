// Tries which way of making sandboxes works on this machine.
import { chownSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Owner } from '../../db/embedded/privileges.ts'
import { run } from '../../db/embedded/processes.ts'
import { bubblewrap } from './bubblewrap.ts'
import { namespaces } from './namespaces.ts'
import { topNames, type JobView } from './view.ts'

export type MakeSandbox = (view: JobView, user: Owner | null) => string[]

/** In order of preference. */
const sandboxMakers: Readonly<Record<string, MakeSandbox>> = { bubblewrap, namespaces }

interface Trial {
  view: JobView
  user: Owner | null
  /** A program that the sandbox must be able to run, with its arguments. */
  program: readonly string[]
}

/** Returns the reasons if none works. `folder` belongs to this process. */
export async function findSandbox(folder: string, trials: readonly Trial[]): Promise<MakeSandbox | string> {
  const reasons: string[] = []
  for (const [name, make] of Object.entries(sandboxMakers)) {
    const found = await Promise.all(trials.map((trial) => tryOut(make, folder, trial)))
    const reason = found.find((one) => one !== null)
    if (reason === undefined) return make
    reasons.push(`${name}: ${reason}`)
  }
  return reasons.join('; ')
}

/** Null if it works. */
async function tryOut(
  make: MakeSandbox,
  folder: string,
  { view, user, program }: Trial,
): Promise<string | null> {
  const path = mkdtempSync(join(folder, 'trial-'))
  const made = ['tmp', 'builds', 'root'].map((name) => join(path, name))
  for (const one of made) mkdirSync(one)
  if (user !== null) for (const one of made) chownSync(one, user.uid, user.gid)
  const [file, ...args] = [
    ...make(view, user),
    '/bin/sh',
    '-c',
    CHECK,
    'sh',
    topNames(view, existsSync).join(' '),
  ]
  const env = { PATH: process.env['PATH'], LC_ALL: 'C' }
  const { code, stderr } = await run({ file, args: [...args, ...program], options: { cwd: path, env } })
  // Also mount points, where shared folders of the machine are in /tmp.
  rmSync(path, { recursive: true })
  if (code === 0) return null
  return stderr.trim().split('\n')[0] || `its trial ended with ${code}`
}

const CHECK = `
fail() { echo "$1" >&2; exit 1; }
[ $$ = 1 ] || fail 'the job is not process 1'
names=$(echo $(ls -A /))
[ "$names" = "$1" ] || fail "the root directory has $names instead of $1"
for folder in /tmp /builds /dev/shm /run; do
  : >$folder/trial && rm $folder/trial || fail "$folder cannot be written"
done
for folder in / /dev /usr; do
  if (: >$folder/trial) 2>/dev/null; then fail "$folder can be written"; fi
done
shift
exec "$@"
`
