// Real repositories: a bare one that is pushed to, and a clone that pushes.
import { execFile } from 'node:child_process'
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const execute = promisify(execFile)

export interface TestRepository {
  /** The folder of all repositories of the test. */
  directory: string
  bare: string
  git(...args: string[]): Promise<string>
  /** Makes an empty commit on the current branch and returns its id. */
  commit(message: string): Promise<string>
  hook(script: string): Promise<void>
  remove(): Promise<void>
}

export async function aRepository(): Promise<TestRepository> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'millrace-git-')))
  const [bare, clone] = [join(directory, 'app.git'), join(directory, 'clone')]
  const env = {
    ...process.env,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_AUTHOR_NAME: 'Ada Example',
    GIT_AUTHOR_EMAIL: 'ada@example.com',
    GIT_COMMITTER_NAME: 'Ada Example',
    GIT_COMMITTER_EMAIL: 'ada@example.com',
  }
  const run = async (cwd: string, args: string[]) => (await execute('git', args, { cwd, env })).stdout.trim()
  await run(directory, ['init', '--quiet', '--bare', '--initial-branch=main', bare])
  await run(directory, ['clone', '--quiet', bare, clone])
  await run(clone, ['checkout', '--quiet', '-b', 'main'])
  const git = (...args: string[]) => run(clone, args)
  return {
    directory,
    bare,
    git,
    async commit(message) {
      await git('commit', '--quiet', '--allow-empty', '-m', message)
      return git('rev-parse', 'HEAD')
    },
    async hook(script) {
      await writeFile(join(bare, 'hooks', 'post-receive'), script, { mode: 0o755 })
    },
    remove: () => rm(directory, { recursive: true, force: true }),
  }
}
