import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { aFolder, anAgent } from '../../test/agent.ts'
import type { Setup } from '../../test/agent.ts'

interface Repository {
  url: string
  work: string
  git: (...args: string[]) => string
  commit: (file: string, text: string) => Promise<string>
}

async function aRepository(): Promise<Repository> {
  const folder = await aFolder()
  const work = join(folder, 'work')
  const bare = join(folder, 'origin.git')
  await mkdir(work)
  const git = (...args: string[]) => run(work, ...args)
  run(folder, 'init', '-q', '--bare', bare)
  git('init', '-q')
  git('remote', 'add', 'origin', bare)
  const commit = async (file: string, text: string) => {
    await writeFile(join(work, file), text)
    git('add', '.')
    git('commit', '-qm', `Add ${file}`)
    git('push', '-q', 'origin', 'HEAD')
    return git('rev-parse', 'HEAD')
  }
  return { url: bare, work, git, commit }
}

function run(folder: string, ...args: string[]): string {
  const who = [
    '-c',
    'user.name=Ada',
    '-c',
    'user.email=ada@example.com',
    '-c',
    'init.defaultBranch=main',
    '-c',
    'protocol.file.allow=always',
  ]
  return execFileSync('git', [...who, ...args], { cwd: folder, stdio: 'pipe' })
    .toString()
    .trim()
}

async function checkOut({ server }: Setup, repository: Repository, env: Record<string, string>) {
  const id = server.offer({
    BUILDKITE_SKIP_CHECKOUT: 'false',
    BUILDKITE_REPO: repository.url,
    BUILDKITE_COMMAND: 'echo "files: $(ls -x)"; echo "at: $(git rev-parse HEAD)"',
    ...env,
  })
  const report = await server.finished(id)
  const log = server.log(id)
  return {
    report,
    log,
    at: /^at: (.*)$/m.exec(log)?.[1],
    files: /^files: (.*)$/m.exec(log)?.[1]?.split(/\s+/),
  }
}

describe('checkout', () => {
  it.each([
    [{ BUILDKITE_COMMIT: 'HEAD', BUILDKITE_BRANCH: 'wrong' }, 'branch wrong'],
    // A branch whose name ends like it is another branch.
    [{ BUILDKITE_COMMIT: 'HEAD', BUILDKITE_BRANCH: 'end' }, 'branch end'],
    [{ BUILDKITE_COMMIT: 'HEAD', BUILDKITE_TAG: 'v9' }, 'tag v9'],
    [{ BUILDKITE_COMMIT: 'HEAD', BUILDKITE_REFSPEC: '+refs/none:refs/x' }, 'ref +refs/none:refs/x'],
    [{ BUILDKITE_COMMIT: 'f'.repeat(40), BUILDKITE_BRANCH: 'main' }, `commit ${'f'.repeat(40)}`],
    [
      { BUILDKITE_COMMIT: 'HEAD', BUILDKITE_PULL_REQUEST: '7', BUILDKITE_PIPELINE_PROVIDER: 'github' },
      'ref refs/pull/7/head',
    ],
  ])('fails at once if the repository does not have it: %j', async (env, what) => {
    const setup = await anAgent()
    const repository = await aRepository()
    await repository.commit('one.txt', 'one')
    repository.git('push', '-q', 'origin', 'HEAD:refs/heads/other/end')
    const { report, log } = await checkOut(setup, repository, env)
    expect(report.exit_status).not.toBe('0')
    expect(log).toContain(`Error: the repository has no ${what}`)
    expect(log).toContain('Push it, or start a build of something that is there.')
    expect(log.match(/git clone/g)).toHaveLength(1)
  })

  it('tries again if the repository does not answer', async () => {
    const setup = await anAgent()
    const repository = await aRepository()
    await repository.commit('one.txt', 'one')
    const first = await checkOut(setup, repository, { BUILDKITE_COMMIT: 'HEAD', BUILDKITE_BRANCH: 'main' })
    expect(first.report.exit_status).toBe('0')
    const { log } = await checkOut(
      setup,
      { ...repository, url: `${repository.url}-gone` },
      { BUILDKITE_COMMIT: 'HEAD', BUILDKITE_BRANCH: 'main' },
    )
    expect(log.match(/trying again from an empty folder/g)).toHaveLength(2)
  })

  it('brings the commit of the build, also one that is not the newest', async () => {
    const setup = await anAgent()
    const repository = await aRepository()
    const first = await repository.commit('a.txt', '1')
    const second = await repository.commit('b.txt', '2')
    expect(await checkOut(setup, repository, { BUILDKITE_COMMIT: first })).toMatchObject({
      at: first,
      files: ['a.txt'],
    })
    expect(await checkOut(setup, repository, { BUILDKITE_COMMIT: second })).toMatchObject({ at: second })
  })

  it('follows the branch when the commit is HEAD, and a tag', async () => {
    const setup = await anAgent()
    const repository = await aRepository()
    const main = await repository.commit('a.txt', '1')
    repository.git('tag', 'v1')
    repository.git('push', '-q', 'origin', 'v1')
    repository.git('checkout', '-qb', 'topic/x')
    const topic = await repository.commit('b.txt', '2')
    expect(await checkOut(setup, repository, { BUILDKITE_BRANCH: 'topic/x' })).toMatchObject({ at: topic })
    const tagged = { BUILDKITE_BRANCH: 'v1', BUILDKITE_TAG: 'v1' }
    expect(await checkOut(setup, repository, tagged)).toMatchObject({ at: main })
  })

  it('brings the head of a pull request, which is on no branch', async () => {
    const setup = await anAgent()
    const repository = await aRepository()
    await repository.commit('a.txt', '1')
    await writeFile(join(repository.work, 'c.txt'), '3')
    repository.git('add', '.')
    repository.git('commit', '-qm', 'From a fork')
    const head = repository.git('rev-parse', 'HEAD')
    repository.git('push', '-q', 'origin', 'HEAD:refs/pull/12/head')
    const env = {
      BUILDKITE_PULL_REQUEST: '12',
      BUILDKITE_PIPELINE_PROVIDER: 'github',
      BUILDKITE_COMMIT: head,
    }
    expect(await checkOut(setup, repository, env)).toMatchObject({ at: head })
  })

  it('removes what an earlier job left behind, and everything for a clean checkout', async () => {
    const setup = await anAgent()
    const repository = await aRepository()
    const commit = await repository.commit('a.txt', '1')
    const dirty = 'echo x > left.txt; echo changed > a.txt; touch .git/objects/marker'
    await checkOut(setup, repository, { BUILDKITE_COMMIT: commit, BUILDKITE_COMMAND: dirty })
    const command = 'echo "files: $(ls -x)"; echo "$(cat a.txt) $(ls .git/objects | grep -c marker)"'
    const again = await checkOut(setup, repository, { BUILDKITE_COMMIT: commit, BUILDKITE_COMMAND: command })
    expect(again).toMatchObject({ files: ['a.txt'] })
    expect(again.log).toContain('\n1 1\n')
    const env = { BUILDKITE_COMMIT: commit, BUILDKITE_COMMAND: command, BUILDKITE_CLEAN_CHECKOUT: 'true' }
    expect((await checkOut(setup, repository, env)).log).toContain('\n1 0\n')
  })

  it('brings submodules, unless they are not wanted', async () => {
    const setup = await anAgent({
      environment: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        GIT_CONFIG_COUNT: '1',
        GIT_CONFIG_KEY_0: 'protocol.file.allow',
        GIT_CONFIG_VALUE_0: 'always',
      },
    })
    const inner = await aRepository()
    await inner.commit('inner.txt', 'inside')
    const repository = await aRepository()
    await repository.commit('a.txt', '1')
    repository.git('submodule', '--quiet', 'add', inner.url, 'sub')
    const commit = await repository.commit('b.txt', '2')
    const env = { BUILDKITE_COMMIT: commit, BUILDKITE_COMMAND: 'echo "files: $(ls -x sub)"' }
    expect(await checkOut(setup, repository, env)).toMatchObject({ files: ['inner.txt'] })
    const without = { ...env, BUILDKITE_GIT_SUBMODULES: 'false', BUILDKITE_CLEAN_CHECKOUT: 'true' }
    expect(await checkOut(setup, repository, without)).toMatchObject({ files: [''] })
  })

  it('takes the flags that the step asks for', async () => {
    const setup = await anAgent()
    const repository = await aRepository()
    await repository.commit('a.txt', '1')
    const commit = await repository.commit('b.txt', '2')
    const { log } = await checkOut(
      setup,
      { ...repository, url: `file://${repository.url}` },
      {
        BUILDKITE_COMMIT: commit,
        BUILDKITE_GIT_CLONE_FLAGS: '-v --depth=1',
        BUILDKITE_GIT_FETCH_FLAGS: '-v --prune --depth=1',
        BUILDKITE_COMMAND: 'echo "commits: $(git rev-list --count HEAD)"',
      },
    )
    expect(log).toContain('commits: 1\n')
  })

  it('keeps to the paths of a sparse checkout', async () => {
    const setup = await anAgent()
    const repository = await aRepository()
    await mkdir(join(repository.work, 'docs'))
    await mkdir(join(repository.work, 'big'))
    await writeFile(join(repository.work, 'big', 'x'), 'x')
    const commit = await repository.commit('docs/page.md', 'text')
    const env = { BUILDKITE_COMMIT: commit, BUILDKITE_GIT_SPARSE_CHECKOUT_PATHS: 'docs' }
    expect(await checkOut(setup, repository, env)).toMatchObject({ at: commit, files: ['docs'] })
    expect(await checkOut(setup, repository, { BUILDKITE_COMMIT: commit })).toMatchObject({
      files: ['big', 'docs'],
    })
  })

  it('reports the commit of the build, unless another job did', async () => {
    const setup = await anAgent()
    const { server } = setup
    const repository = await aRepository()
    const commit = await repository.commit('a.txt', '1')
    server.answer(/data\/exists$/, () => ({ status: 200, body: { exists: false } }))
    await checkOut(setup, repository, { BUILDKITE_COMMIT: commit })
    const { key, value } = JSON.parse(String(server.find(/data\/set$/)[0]?.body)) as Record<string, string>
    expect(key).toBe('buildkite:git:commit')
    expect(value).toMatch(
      new RegExp(
        `^commit ${commit}\nabbrev-commit ${commit.slice(0, 7)}\nAuthor: Ada <ada@example.com>\n\n    Add a.txt$`,
      ),
    )
    server.answer(/data\/exists$/, () => ({ status: 200, body: { exists: true } }))
    await checkOut(setup, repository, { BUILDKITE_COMMIT: commit })
    expect(server.find(/data\/set$/)).toHaveLength(1)
  })

  it('refuses a commit that is not on the branch, when that is to be verified', async () => {
    const setup = await anAgent()
    const repository = await aRepository()
    await repository.commit('a.txt', '1')
    repository.git('checkout', '-qb', 'other')
    const elsewhere = await repository.commit('b.txt', '2')
    const env = { BUILDKITE_COMMIT: elsewhere, BUILDKITE_GIT_COMMIT_VERIFICATION: 'strict' }
    const { report, log } = await checkOut(setup, repository, env)
    expect(report.exit_status).not.toBe('0')
    expect(log).toContain('not on the branch main')
  })

  it('does not take names from outside for options, and fails when there is no such repository', async () => {
    const setup = await anAgent()
    const repository = await aRepository()
    const { report } = await checkOut(setup, repository, {
      BUILDKITE_COMMIT: '--upload-pack=touch /tmp/owned',
    })
    expect(report.exit_status).toBe('1')
    const gone = await checkOut(setup, { ...repository, url: '/nowhere/at/all.git' }, {})
    expect(gone.report.exit_status).toBe('128')
  })

  it('is left to the hook where there is one', async () => {
    const setup = await anAgent()
    await writeFile(join(setup.hooks, 'checkout'), 'echo made > made.txt')
    const repository = await aRepository()
    const done = await checkOut(setup, repository, { BUILDKITE_COMMAND: 'echo "files: $(ls -x)"' })
    expect(done).toMatchObject({ files: ['made.txt'] })
  })
})

/** A program that says it ran, and then does what it is asked to. */
async function aTrap(): Promise<{ path: string; hasRun: () => boolean }> {
  const folder = await aFolder()
  const path = join(folder, 'trap')
  await writeFile(path, `#!/bin/sh\ntouch '${folder}/ran'\nexec "$@"\n`, { mode: 0o755 })
  return { path, hasRun: () => existsSync(join(folder, 'ran')) }
}

describe('abuse case R6: commands in what git reads', () => {
  it("are not run from a build's git flags; harmless flags are used", async () => {
    const setup = await anAgent()
    const repository = await aRepository()
    const commit = await repository.commit('a.txt', '1')
    const trap = await aTrap()
    const flags = {
      BUILDKITE_GIT_CLONE_FLAGS: `--upload-pack=${trap.path};git-upload-pack`,
      BUILDKITE_GIT_FETCH_FLAGS: `--upload-pack=${trap.path};git-upload-pack`,
      BUILDKITE_GIT_CHECKOUT_FLAGS: '-f --recurse-submodules',
      BUILDKITE_GIT_CLEAN_FLAGS: `-ffxdq;${trap.path}`,
      BUILDKITE_GIT_SUBMODULE_CLONE_CONFIG: `core.sshCommand=${trap.path}`,
      BUILDKITE_GIT_MIRRORS_PATH: '/tmp',
    }
    const { log, at } = await checkOut(setup, repository, { ...flags, BUILDKITE_COMMIT: commit })
    expect(at).toBe(commit)
    expect(trap.hasRun()).toBe(false)
    expect(log).toContain(
      `# Variables that only the agent may set were ignored: ${Object.keys(flags).join(', ')}\n`,
    )
  })

  it("are not run from a build's variables when the agent limits what jobs run", async () => {
    const repository = await aRepository()
    const commit = await repository.commit('a.txt', '1')
    const trap = await aTrap()
    const steering = {
      GIT_CONFIG_COUNT: '2',
      GIT_CONFIG_KEY_0: 'core.fsmonitor',
      GIT_CONFIG_VALUE_0: trap.path,
      GIT_CONFIG_KEY_1: 'uploadpack.packObjectsHook',
      GIT_CONFIG_VALUE_1: trap.path,
      GIT_SSH_COMMAND: trap.path,
      BASH_ENV: trap.path,
      PATH: dirname(trap.path),
      LD_PRELOAD: '/nowhere.so',
    }
    for (const limits of [{ repositoryHooks: false }, { plugins: false }, { allowedRepositories: [/./] }]) {
      const setup = await anAgent(limits)
      const env = { ...steering, BUILDKITE_COMMIT: commit, GIT_AUTHOR_NAME: 'Grace' }
      const { log, at } = await checkOut(setup, repository, {
        ...env,
        BUILDKITE_COMMAND: 'echo "at: $(git rev-parse HEAD)"; echo "author $GIT_AUTHOR_NAME"',
      })
      expect(at).toBe(commit)
      expect(log).toContain('author Grace')
      expect(log).toContain(Object.keys(steering).join(', '))
      expect(trap.hasRun()).toBe(false)
    }
  })

  it('are not run from hooks and settings that an earlier job left in .git, also of submodules', async () => {
    const setup = await anAgent({
      environment: {
        PATH: process.env['PATH'],
        GIT_CONFIG_COUNT: '1',
        GIT_CONFIG_KEY_0: 'protocol.file.allow',
        GIT_CONFIG_VALUE_0: 'always',
      },
    })
    const repository = await aRepository()
    const inner = await aRepository()
    await inner.commit('inner.txt', 'x')
    repository.git('submodule', 'add', '-q', inner.url, 'sub/module')
    const commit = await repository.commit('.gitattributes', '* filter=evil\n')
    const trap = await aTrap()
    const leave = `
      leave() {
        for name in post-checkout reference-transaction post-index-change pre-auto-gc; do
          mkdir -p "$1/hooks" && cp ${trap.path} "$1/hooks/$name"
        done
        git config -f "$1/config" core.fsmonitor ${trap.path}
        git config -f "$1/config" core.hooksPath "$1/hooks"
        git config -f "$1/config" core.sshCommand ${trap.path}
        git config -f "$1/config" filter.evil.smudge "${trap.path} cat"
        git config -f "$1/config" filter.evil.clean "${trap.path} cat"
        git config -f "$1/config" url./nowhere/.insteadOf /
        git config -f "$1/config" uploadpack.packObjectsHook ${trap.path}
        git config -f "$1/config" alias.clean "!${trap.path}"
      }
      leave .git; leave .git/modules/sub/module
      git config submodule.sub/module.update "!${trap.path}"`
    const first = await checkOut(setup, repository, { BUILDKITE_COMMIT: commit, BUILDKITE_COMMAND: leave })
    expect(first.report.exit_status).toBe('0')
    const again = await checkOut(setup, repository, {
      BUILDKITE_COMMIT: commit,
      BUILDKITE_COMMAND: [
        'echo "at: $(git rev-parse HEAD)"',
        'echo "files: $(ls sub/module)"',
        'git status --short && git commit -q --allow-empty -m next --author "A <a@b>" || true',
        'echo "origin: $(git remote get-url origin)"',
      ].join('\n'),
    })
    expect(again).toMatchObject({ at: commit, files: ['inner.txt'] })
    expect(again.log).toContain(`origin: ${repository.url}\n`)
    expect(again.log).not.toContain('trying again from an empty folder')
    expect(trap.hasRun()).toBe(false)
  })

  it('are not run from the address of a repository', async () => {
    const setup = await anAgent()
    const repository = await aRepository()
    const trap = await aTrap()
    const { report, log } = await checkOut(
      setup,
      { ...repository, url: `ext::${trap.path}` },
      { GIT_ALLOW_PROTOCOL: 'ext', BUILDKITE_COMMIT: 'HEAD' },
    )
    expect(report.exit_status).toBe('1')
    expect(log).toContain('BUILDKITE_REPO cannot name a command')
    expect(trap.hasRun()).toBe(false)
  })

  it("do not travel from a fork's build to a trusted one: they never share a checkout", async () => {
    const setup = await anAgent()
    const { server } = setup
    const repository = await aRepository()
    const env = {
      BUILDKITE_SKIP_CHECKOUT: 'false',
      BUILDKITE_REPO: repository.url,
      BUILDKITE_COMMIT: await repository.commit('a.txt', '1'),
      BUILDKITE_COMMAND:
        'echo "in: $PWD"; ls .git/objects | grep marker || echo clean; touch .git/objects/marker',
    }
    const build = async (fromFork: boolean) => {
      const id = server.offer(env, fromFork ? { from_fork: true } : {})
      expect((await server.finished(id)).exit_status).toBe('0')
      const log = server.log(id)
      return { place: /^in: (.*)$/m.exec(log)?.[1], isClean: /^clean$/m.test(log) }
    }
    const [fork, own, ownAgain, otherFork] = [
      await build(true),
      await build(false),
      await build(false),
      await build(true),
    ]
    expect(own.place).not.toBe(fork.place)
    expect([fork, own, ownAgain, otherFork].map(({ isClean }) => isClean)).toEqual([true, true, false, true])
  })
})
