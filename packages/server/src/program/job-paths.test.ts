// A job can exchange whatever it can write for a link. So the server's part for local agents, and the agents' process, act on trees
// and owners only where no job can write. Everything else is done in the sandbox of a job.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const packages = fileURLToPath(new URL('../../..', import.meta.url))

/** What runs outside of sandboxes. The rest of `agent/src/job` and `agent/src/separate/program.ts` runs inside. */
const outside = [
  ...filesIn('server/src/program'),
  ...filesIn('server/src/program/sandbox'),
  ...filesIn('agent/src/worker'),
  ...filesIn('agent/src/sockets'),
  ...filesIn('agent/src/separate').filter((path) => !path.endsWith('/program.ts')),
  ...['local', 'pool', 'commands-folder', 'job-reaper'].map((name) => `agent/src/${name}.ts`),
]

/** Calls that go through whole trees, or that follow a link at the end of a path. */
const followers = /\b(?:rm|rmSync|cp|cpSync|chown|chownSync|lchown|lchownSync|copyFile|copyFileSync)\(/g

/** Why each of them is safe. */
const safe: Record<string, string> = {
  'server/src/program/other-user.ts rmSync(': 'files of root below a folder of root',
  'server/src/program/other-user.ts copyFileSync(': 'files of root below a folder of root',
  'server/src/program/other-user.ts lchownSync(': 'a single name in a folder of root',
  'server/src/program/sandbox/find-sandbox.ts chownSync(': 'new folders in a folder that no job reaches',
  'server/src/program/sandbox/find-sandbox.ts rmSync(': 'what our own programs have left there',
  'agent/src/separate/job-folders.ts lchownSync(': 'a new folder in a folder that no job reaches',
  'agent/src/sockets/lock-token.ts rmSync(': 'a single name in a folder that jobs at most read',
  'agent/src/sockets/locks.ts rm(': 'a single name in the folder of sockets, which jobs see read-only',
  'agent/src/commands-folder.ts rm(': 'a folder of the agent’s own user with no other’s files',
}

function filesIn(folder: string): string[] {
  return readdirSync(join(packages, folder))
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => `${folder}/${name}`)
}

it('nothing outside of a sandbox follows what a job can write', () => {
  const found = outside.flatMap((path) => {
    const calls = readFileSync(join(packages, path), 'utf8').match(followers) ?? []
    return calls.map((call) => `${path} ${call}`)
  })
  expect(new Set(found)).toEqual(new Set(Object.keys(safe)))
})
