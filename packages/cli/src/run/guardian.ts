// Sees to it that no process of a job outlives the run, however the run ends. It is a process of its own, in a session
// of its own, that reads over a pipe which process groups there are. When the pipe closes, because the run is over
// or because it was killed, the guardian kills the groups that are left and removes the run's private folder.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Writable } from 'node:stream'

const SCRIPT = `
groups=' '
while read -r sign id; do
  case $sign in
    +) groups="$groups$id " ;;
    -) groups="\${groups%% $id *} \${groups#* $id }" ;;
  esac
done
for id in $groups; do kill -s KILL -- "-$id"; done
rm -rf -- "$1"
`

export class Guardian {
  private readonly pipe: Writable
  private readonly ended: Promise<unknown>

  constructor(privateFolder: string) {
    const child = spawn('/bin/sh', ['-c', SCRIPT, 'guardian', privateFolder], {
      cwd: '/',
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    this.pipe = child.stdin
    // Somebody may kill the guardian; the run can do its work without it.
    this.pipe.on('error', () => {})
    this.ended = once(child, 'exit')
  }

  watch(group: number): void {
    this.pipe.write(`+ ${group}\n`)
  }

  release(group: number): void {
    this.pipe.write(`- ${group}\n`)
  }

  async close(): Promise<void> {
    this.pipe.end()
    await this.ended
  }
}
