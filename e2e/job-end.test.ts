// What is left of a job of a local agent when it has ended, or when its agent or its server was killed.
import { randomBytes } from 'node:crypto'
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { linuxLacks, needing } from '../testbed/src/needing.ts'
import {
  aFolder,
  agentsOf,
  aPipeline,
  build,
  fromFork,
  sandboxModes,
  startBuild,
  startIn,
} from './local-jobs.ts'
import { eventually, type Server } from './millrace.ts'

const [hidden, untilEnd] = [600, 900]

/** Processes in sessions of their own, without a parent and without an environment. They are named by the argument. */
const hide = (mark: string) => `
(setsid sh -c '(setsid env -i sleep ${hidden}${mark} &) &') >/dev/null 2>&1 </dev/null
setsid env -i sh -c 'trap "" TERM HUP INT; sleep ${hidden}${mark} & wait; wait' >/dev/null 2>&1 </dev/null &
`

for (const mode of sandboxModes) {
  const { title } = mode
  const sandbox = needing('namespaces', linuxLacks ?? mode.lacks)

  describe(`the processes of a job of a local agent, in a sandbox ${title}`, () => {
    sandbox.it('end with it, and with the agents and the server, also those that hide', async () => {
      const { server } = await startIn(mode)
      const mark = aMark()
      const pipeline = await aPipeline(server, 'none', `${hide(mark)}\nsleep ${untilEnd}${mark} || true`)
      const ends: ((server: Server) => void)[] = [
        () => endCommand(mark),
        // The server starts others.
        killAgents,
        killServer,
      ]
      for (const end of ends) {
        await startBuild(server, pipeline, {})
        await eventually('all run', async () => marked(mark).length === 3)
        end(server)
        await eventually('nothing is left', async () => marked(mark).length === 0)
      }
    })
  })

  describe(`abuse case R1: links of a job of a local agent, in a sandbox ${title}`, () => {
    sandbox.it('lead the server and the agent to nothing', async () => {
      const { server, dataDir, again } = await startIn(mode)
      const victim = join(aFolder(), 'victim')
      mkdirSync(join(victim, 'kept'), { recursive: true, mode: 0o700 })
      const before = lstatSync(victim)
      const swap = (path: string) =>
        `rm -rf ${path} 2>/dev/null; mv ${path} ${path}.gone 2>/dev/null; ln -s '${victim}' ${path} 2>/dev/null || true`
      // Everything that a job can write: its workspace, home, checkout, plugins, temporary files.
      const places = '/builds/workspace/.home /builds/workspace/.plugins "$PWD" /builds/workspace /tmp/link'
      const closed = 'mkdir -p /tmp/a/b; touch /tmp/a/b/c; chmod -R a-rwx /tmp/a'
      const script = `${closed}; for path in ${places}; do ${swap('"$path"')}; done; ln -s '${victim}' /builds/link || true; echo swapped`
      const pipeline = await aPipeline(server, 'none', script)
      for (const more of [{}, {}, fromFork])
        expect((await build(server, pipeline, more)).log).toContain('swapped')
      server.signal('SIGKILL')
      await server.ended
      const next = await again()
      expect((await build(next, pipeline, {})).log).toContain('swapped')
      await eventually('the folders of the jobs are deleted', async () => {
        const left = readdirSync(join(dataDir, 'jobs', 'running'))
        // One is of the process that waits for the next job.
        return left.length === 1
      })
      const after = lstatSync(victim)
      expect([after.uid, after.gid, after.mode]).toEqual([before.uid, before.gid, before.mode])
      expect(readdirSync(victim)).toEqual(['kept'])
    })
  })
}

const perlLacks = existsSync('/usr/bin/perl') ? null : 'perl is not installed'

/**
 * Takes the standard output of process 1 of the job and writes without a line end, until the other side has enough. Some
 * systems forbid to take it.
 */
const FLOOD = `
use IO::Handle;
my ($open_process, $take_file) = (434, 438);
my $taken = syscall($take_file, syscall($open_process, 1, 0), 1, 0);
exit print "refused\n" if $taken < 0;
open(my $output, ">&=", $taken);
$output->blocking(1);
my $part = "x" x (1 << 20);
for (1 .. 700) { syswrite($output, $part) or last }
`

for (const mode of sandboxModes) {
  describe(`abuse case R1: the output of a job's process, in a sandbox ${mode.title}`, () => {
    needing('namespaces', linuxLacks ?? mode.lacks ?? perlLacks).it('does not end the agents', async () => {
      const { server } = await startIn(mode)
      const pipeline = await aPipeline(server, 'none', `perl -e '${FLOOD}' || true\necho written`)
      const before = agentsOf(server)
      for (const kind of [fromFork, {}])
        expect((await build(server, pipeline, kind)).log).toMatch(/^written$/m)
      expect(agentsOf(server)).toEqual(before)
    })
  })
}

const aMark = () => `.${String(randomBytes(3).readUIntBE(0, 3)).padStart(9, '0')}`

/** Processes that sleep for a time with this mark. */
function marked(mark: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && wordsOf(name)[0] === 'sleep' && wordsOf(name)[1]?.endsWith(mark))
    .map(Number)
}

function wordsOf(pid: string | number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  } catch {
    return []
  }
}

/** The command of the job goes on, and ends. */
function endCommand(mark: string): void {
  for (const pid of marked(mark)) {
    if (wordsOf(pid)[1] === `${untilEnd}${mark}`) process.kill(pid, 'SIGKILL')
  }
}

function killAgents(server: Server): void {
  for (const pid of agentsOf(server)) process.kill(pid, 'SIGKILL')
}

/** The agents end by themselves. */
function killServer(server: Server): void {
  server.signal('SIGKILL')
}
