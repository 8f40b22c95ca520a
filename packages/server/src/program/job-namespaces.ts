// A server without root runs the jobs of local agents in namespaces. They see only their own processes, and of the data
// directory only their builds. They cannot write to the home directory or to this program.
import { existsSync, mkdirSync, readFileSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import type { JobIdentity } from '@millrace/protocol/local-agents.ts'
import { prepareDataDir } from '../db/embedded/data-dir.ts'
import { run } from '../db/embedded/processes.ts'
import { agentFolder } from '../hosted/runner.ts'
import type { JobSeparation } from './agent-program.ts'

/**
 * Runs as root of a new user namespace, then starts the job as the user in a nested one, from which nothing mounted here
 * can be unmounted. A tmpfs may cover the folder of builds, so the script reaches it by its working directory.
 */
const script = `
set -eu
uid=$1 gid=$2 builds=$3
shift 3
cd "$builds"
while [ "$1" != -- ]; do
  mount --rbind "$1" "$1"
  mount -o "remount,bind,ro$2" "$1"
  shift 2
done
shift
while [ "$1" != -- ]; do
  mount -t tmpfs -o size=1m,mode=0755 none "$1"
  case $builds in
    "$1"/*)
      mkdir -p "$builds"
      mount --no-canonicalize --bind . "$builds"
      ;;
  esac
  mount -o remount,bind,ro "$1"
  shift
done
shift
cd /
exec unshare --user --map-user="$uid" --map-group="$gid" -- "$@"
`

const namespaces = ['--user', '--map-root-user', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc']

const longestSocketPath = 107

/** Folders in which people keep keys. They are hidden from jobs of forks. */
const keyFolders = ['.ssh', '.gnupg', '.aws', '.azure', '.kube', '.docker', '.config']

/** Returns the reason where this is not possible. `alsoHidden` are folders of the database outside of the data directory. */
export async function separateByNamespaces(
  dataDir: string,
  alsoHidden: readonly string[],
  inherited: Record<string, string>,
): Promise<JobSeparation | string> {
  const uid = process.geteuid?.()
  const gid = process.getegid?.()
  if (process.platform !== 'linux' || uid === undefined || gid === undefined) {
    return 'this system has no namespaces'
  }
  const data = realpathSync(prepareDataDir(dataDir).path)
  const sessionSockets = [`/run/user/${uid}`, `/tmp/tmux-${uid}`]
  const outside = [...alsoHidden, ...sessionSockets].filter((path) => !path.startsWith(`${data}/`))
  const hidden = [data, ...outside.filter((path) => existsSync(path))]
  const home = realpathSync(homedir())
  const readOnly = [home, programFolder()].filter((path) => path !== '/')
  const identity = (folder: string, more: readonly string[]): JobIdentity => {
    const buildPath = join(data, folder)
    const [homePath, temporary] = [join(buildPath, '.home'), join(buildPath, '.tmp')]
    for (const path of [homePath, temporary]) mkdirSync(path, { recursive: true, mode: 0o700 })
    const covered = [...hidden, ...more.filter((path) => existsSync(path))]
    const mounts = [...readOnly.flatMap((path) => [path, mountFlags(path)]), '--', ...covered, '--']
    const command = ['unshare', ...namespaces, '--', '/bin/sh', '-c', script, 'millrace-job']
    return {
      command: [...command, String(uid), String(gid), buildPath, ...mounts],
      user: null,
      buildPath,
      environment: { ...inherited, HOME: homePath, TMPDIR: temporary },
    }
  }
  // Each kind of job has its own folder for temporary files, which holds sockets with a name like this.
  if (join(data, 'builds', '.tmp', 'mr-job-XXXXXX', 'job.sock').length > longestSocketPath) {
    return `the path of the data directory ${data} is too long for sockets below it`
  }
  const trusted = identity('builds', [])
  const forks = identity(
    'forks',
    keyFolders.map((name) => join(home, name)),
  )
  for (const one of [trusted, forks]) {
    const reason = await testIdentity(one, data)
    if (reason !== null) return `namespaces do not work here (${reason})`
  }
  const program = { node: process.execPath, folder: agentFolder }
  return { program, socketsPath: null, jobs: { kind: 'separate', trusted, forks } }
}

/** The clone, or the folder of all installed packages: everything that this program loads code from. */
function programFolder(): string {
  const agent = realpathSync(agentFolder)
  const installed = /^.*?\/node_modules(?=\/)/.exec(agent)?.[0]
  return installed ?? dirname(dirname(agent))
}

/** Also runs the agent's program, because Node and the packages must not be hidden. */
async function testIdentity({ command: [file = '', ...args], buildPath }: JobIdentity, data: string) {
  const check = '[ "$(ls -A "$1")" = "$2" ] && [ -w "$1/$2" ] && shift 2 && exec "$@"'
  const folder = buildPath.slice(data.length + 1)
  const program = [process.execPath, join(agentFolder, 'dist', 'separate', 'program.js')]
  const words = [...args, '/bin/sh', '-c', check, 'sh', data, folder, ...program]
  const { code, stderr } = await run({ file, args: words, options: { env: { PATH: process.env['PATH'] } } })
  return code === 0 ? null : stderr.trim().split('\n')[0] || `the trial ended with ${code}`
}

/** A remount in a new namespace must repeat the flags that the mount has, or the kernel refuses it. */
function mountFlags(path: string): string {
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').trim().split('\n')
  const mounts = lines.map((line) => {
    const [, , , , point = '', options = ''] = line.split(' ')
    return {
      point: point.replaceAll(/\\(\d{3})/g, (_, code: string) =>
        String.fromCharCode(Number.parseInt(code, 8)),
      ),
      options,
    }
  })
  const above = mounts.filter(({ point }) => point === '/' || path === point || path.startsWith(`${point}/`))
  const nearest = above.toSorted((a, b) => a.point.length - b.point.length).at(-1)
  const kept = nearest?.options.split(',').filter((option) => /^(no\w+|relatime)$/.test(option)) ?? []
  return kept.map((option) => `,${option}`).join('')
}
