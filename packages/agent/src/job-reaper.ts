// Kills the processes of jobs when the process that runs the jobs dies, even by SIGKILL. The reaper is a shell in a
// session of its own that reads over a pipe what to watch. When the pipe closes, it kills every process that belongs to
// a watched job and deletes the watched folders.
//
// A process belongs to a job if it is in one of the job's process groups or sessions, if it carries the job's id in its
// environment (where /proc shows environments), or if it descends from such a process. The reaper stands beside the
// jobs and not between agent and job, so it does not matter under which user or in which namespace a job runs, as long
// as the agent may signal it.

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

export interface JobReaper {
  watch(kind: WatchedKind, value: string | number): void
  release(kind: WatchedKind, value: string | number): void
  /** Kills and deletes what is still watched. */
  close(): Promise<void>
}

/** A process group by its number, a job by its `BUILDKITE_JOB_ID`, a folder by its path. */
type WatchedKind = 'group' | 'job' | 'folder'

const SCRIPT = `
trap '' HUP INT TERM
newline='
'
watched=$newline
while read -r sign entry; do
  case $sign in
    +) watched=$watched$entry$newline ;;
    -) case $watched in
      *"$newline$entry$newline"*)
        watched=\${watched%%"$newline$entry$newline"*}$newline\${watched#*"$newline$entry$newline"} ;;
    esac ;;
  esac
done

list() { printf '%s' "$watched" | sed -n "s/^$1 //p"; }
marks=$(list job | sed 's/^/BUILDKITE_JOB_ID=/')

marked_processes() {
  [ -n "$marks" ] && grep -alF "$marks" /proc/[0-9]*/environ 2>/dev/null | sed 's/[^0-9]//g'
}

# Process, parent, group, session, state.
all_processes() {
  if [ -r /proc/self/stat ]; then
    cat /proc/[0-9]*/stat 2>/dev/null |
      awk '/^[0-9]+ [(].*[)] / { pid = $1; sub(/^.*[)] /, ""); print pid, $2, $3, $4, $1 }'
  else
    ps -A -o pid= -o ppid= -o pgid= -o stat= | awk '{ print $1, $2, $3, $3, substr($4, 1, 1) }'
  fi
}

doomed_processes() {
  { list group | sed 's/^/group /'; marked_processes | sed 's/^/marked /'; all_processes; } | awk '
    $1 == "group" { groups[$2]; next }
    $1 == "marked" { doomed[$2]; next }
    $5 != "Z" { parents[$1] = $2; if (($3 in groups) || ($4 in groups)) doomed[$1] }
    END {
      do {
        grows = 0
        for (pid in parents) if (!(pid in doomed) && (parents[pid] in doomed)) { doomed[pid]; grows = 1 }
      } while (grows)
      for (pid in doomed) if (pid in parents) print pid
    }'
}

# Find descendants before their parents die. A process may start another meanwhile, so look until nothing is left.
if [ -n "$(list group)$marks" ]; then
  for attempt in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    doomed=$(doomed_processes)
    for group in $(list group); do kill -s KILL -- "-$group"; done
    [ -n "$doomed" ] || break
    kill -s KILL $doomed
    sleep 0.1
  done
fi
list folder | while read -r folder; do rm -rf -- "$folder"; done
`

/** A release may wait this long for the next entry to watch, because every message wakes the reaper. */
const RELEASE_MS = 100

export function startJobReaper(): JobReaper {
  // When the first process of a container dies, the kernel ends all others.
  if (process.pid === 1) return { watch: () => {}, release: () => {}, close: () => Promise.resolve() }
  const watched = new Set<string>()
  let isClosed = false
  let reaper: ChildProcess | null = null
  let unsent = ''
  let releaseTimer: NodeJS.Timeout | null = null

  function send(): void {
    if (releaseTimer !== null) clearTimeout(releaseTimer)
    releaseTimer = null
    if (unsent !== '') reaper?.stdin?.write(unsent)
    unsent = ''
  }

  function start(): ChildProcess {
    const child = spawn('/bin/sh', ['-c', SCRIPT, 'job-reaper'], {
      cwd: '/',
      // No variable of a job may mark the reaper itself.
      env: { PATH: process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin' },
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    // Someone may have killed it. The next job starts another.
    child.stdin.on('error', () => {})
    const clear = () => {
      if (reaper === child) reaper = null
    }
    child.once('exit', clear)
    child.once('error', clear)
    unsent = Array.from(watched, (entry) => `+ ${entry}\n`).join('')
    return child
  }

  reaper = start()
  return {
    watch(kind, value) {
      const entry = `${kind} ${value}`
      if (isClosed || watched.has(entry)) return
      watched.add(entry)
      unsent += `+ ${entry}\n`
      reaper ??= start()
      send()
    },
    release(kind, value) {
      const entry = `${kind} ${value}`
      if (!watched.delete(entry)) return
      unsent += `- ${entry}\n`
      releaseTimer ??= setTimeout(send, RELEASE_MS).unref()
    },
    async close() {
      isClosed = true
      send()
      const last = reaper
      if (last === null) return
      const ended = once(last, 'exit').catch(() => {})
      last.stdin?.end()
      await ended
    },
  }
}
