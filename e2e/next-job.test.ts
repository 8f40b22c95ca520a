// What a job of a local agent finds of the job before it, and of the process that waits for the job after it. The process of a
// job starts while the job before it runs.
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { linuxLacks, needing } from '../testbed/src/needing.ts'
import { agentsOf, aPipeline, build, sandboxModes, startIn } from './local-jobs.ts'
import { eventually } from './millrace.ts'

/** Leaves something in everything that a job can write to. Its environment has the secret. */
const leave = (mark: string) => `
for folder in /tmp /run /dev/shm /builds "$HOME" "$PWD"; do
  if [ -w "$folder" ]; then echo "$SECRET" >"$folder/left-${mark}"; fi
done
ipcmk -M 64 >/dev/null
cat >/tmp/listen.cjs <<'END'
const { createServer } = require('node:net')
createServer().listen('\\0left-${mark}', () => createServer().listen('/tmp/left-${mark}.socket', () => console.log('listens')))
END
mkfifo /tmp/ready
setsid node /tmp/listen.cjs >/tmp/ready 2>&1 </dev/null &
read -r answer </tmp/ready
echo "$answer"
`

/** Prints a line for all that it finds. The script has the secret backwards, because its own text is in the memory that it reads. */
const look = (mark: string, backwards: string) => `
found() { echo "found $1"; }
secret=$(node -p "[...'${backwards}'].reverse().join('')")
find /tmp /run /dev/shm /builds -name 'left-*' 2>/dev/null | grep -q . && found file
grep -alF "$secret" /proc/[0-9]*/environ 2>/dev/null | grep -q . && found environment
grep -al 'listen[.]cjs' /proc/[0-9]*/cmdline 2>/dev/null | grep -q . && found process
[ "$(grep -al '@millrace/agent/dist/[s]eparate/' /proc/[0-9]*/cmdline 2>/dev/null)" = /proc/1/cmdline ] || found 'another process of the agent'
[ "$(wc -l </proc/sysvipc/shm)" = 1 ] || found 'shared memory'
cat >/tmp/look.cjs <<'END'
const { openSync, readFileSync, readSync } = require('node:fs')
const { connect } = require('node:net')
const secret = Buffer.from([...'${backwards}'].reverse().join(''))
for (const path of ['\\0left-${mark}', '/tmp/left-${mark}.socket'])
  connect(path).on('connect', function () { console.log('found socket'); this.end() }).on('error', () => {})
for (const part of partsOfMemory()) if (part.includes(secret)) console.log('found memory')
console.log('looked')
function* partsOfMemory() {
  let memory
  // Some machines forbid it.
  try { memory = openSync('/proc/1/mem') } catch { return }
  for (const line of readFileSync('/proc/1/maps', 'utf8').split('\\n')) {
    const [, from, to] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line)?.map((text) => parseInt(text, 16)) ?? []
    if (from === undefined || to - from > 2 ** 28) continue
    const part = Buffer.alloc(to - from)
    try { readSync(memory, part, 0, part.length, from) } catch { continue }
    yield part
  }
}
END
node /tmp/look.cjs
`

for (const mode of sandboxModes) {
  describe(`abuse case R1: a job of a local agent right after another, in a sandbox ${mode.title}`, () => {
    needing('namespaces', linuxLacks ?? mode.lacks).it('finds nothing of it', async () => {
      const { server } = await startIn(mode)
      const [mark, secret] = [randomBytes(4).toString('hex'), randomBytes(12).toString('hex')]
      const backwards = secret.split('').toReversed().join('')
      const leaving = await aPipeline(server, 'none', leave(mark))
      const looking = await aPipeline(server, 'none', look(mark, backwards))
      for (let pair = 0; pair < 3; pair++) {
        const left = await build(server, leaving, { env: { SECRET: secret } })
        expect(left).toMatchObject({ state: 'passed', log: expect.stringMatching(/^listens$/m) })
        const looked = await build(server, looking, {})
        expect(looked.log.match(/^found .*/gm)).toBeNull()
        expect(looked).toMatchObject({ state: 'passed', log: expect.stringMatching(/^looked$/m) })
      }
    })

    needing('namespaces', linuxLacks ?? mode.lacks).it(
      'leaves no process that waited, when agent and server are killed',
      async () => {
        const { server, home } = await startIn(mode)
        const pipeline = await aPipeline(server, 'none', 'true')
        for (let number = 0; number < 3; number++)
          expect((await build(server, pipeline, {})).state).toBe('passed')
        expect(inSandboxes(home).length).toBeGreaterThan(0)
        const pids = [...agentsOf(server), server.pid]
        for (const pid of pids) process.kill(pid, 'SIGKILL')
        await eventually('all have ended', async () => inSandboxes(home).length === 0)
      },
    )
  })
}

/** Processes that see folders of jobs of the installation in this home. */
function inSandboxes(home: string): string[] {
  const folders = `${home.split('/').slice(-2).join('/')}/data/jobs/running/`
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && mountsOf(name).includes(folders))
}

function mountsOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/mountinfo`, 'utf8')
  } catch {
    return ''
  }
}
