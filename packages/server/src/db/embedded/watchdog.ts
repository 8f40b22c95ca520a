/*
 * A small shell that outlives this process. It reads from a pipe that only this process holds: first the pid of the
 * database, then `done` at an orderly end. If the pipe closes without `done`, this process was killed: the shell stops the
 * database, unless a later start runs another one by then.
 */
import { spawn } from 'node:child_process'
import { Socket } from 'node:net'
import type { ShutdownMode } from './postmaster.ts'

const script = `
pid=
while read -r line; do
  [ "$line" != done ] || exit 0
  pid=$line
done
runs() { [ -n "$pid" ] && [ "$(head -n 1 "$cluster/postmaster.pid" 2>/dev/null)" = "$pid" ]; }
cluster=$1
if runs && kill -s "$2" "$pid" 2>/dev/null; then
  tries=0
  while [ $tries -lt 100 ] && runs; do tries=$((tries + 1)); sleep 0.1; done
fi
shift 2
[ $# -eq 0 ] || rm -rf "$@" || { sleep 2; rm -rf "$@"; }
`

interface Watchdog {
  guard: (pid: number) => void
  dismiss: () => void
}

export function startWatchdog(cluster: string, mode: ShutdownMode, remove: string[]): Watchdog {
  const signal = mode === 'fast' ? 'INT' : 'QUIT'
  const child = spawn('/bin/sh', ['-c', script, 'millrace-watchdog', cluster, signal, ...remove], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: '/',
  })
  child.on('error', () => {})
  child.stdin.on('error', () => {})
  child.unref()
  if (child.stdin instanceof Socket) child.stdin.unref()
  return {
    guard: (pid) => void child.stdin.write(`${pid}\n`),
    dismiss: () => void child.stdin.end('done\n'),
  }
}
