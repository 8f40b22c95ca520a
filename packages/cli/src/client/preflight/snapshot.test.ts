import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { aFolder, aRepository, git } from '../../../test/running.ts'
import { takeSnapshot } from './snapshot.ts'

const REF = 'refs/millrace/preflight/test'

function aRemote(repository: string): string {
  const remote = aFolder()
  git(remote, 'init', '--quiet', '--bare', '--initial-branch=main')
  git(repository, 'remote', 'add', 'origin', remote)
  git(repository, 'push', '--quiet', 'origin', 'main')
  return remote
}

async function snapshotOf(repository: string) {
  const snapshot = await takeSnapshot(repository, 'Preflight')
  onTestFinished(() => snapshot.close())
  return snapshot
}

/** Everything of the repository that a user could see. */
const stateOf = (repository: string) => ({
  index: readFileSync(join(repository, '.git/index')).toString('base64'),
  status: git(repository, 'status', '--porcelain'),
  refs: git(repository, 'for-each-ref'),
  reflog: git(repository, 'reflog'),
  objects: git(repository, 'count-objects', '-v'),
})

describe('the snapshot of a work tree', () => {
  it('has modified, staged, deleted and new files, and no ignored ones', async () => {
    const repository = aRepository({
      'kept.txt': 'kept',
      'modified.txt': 'before',
      'deleted.txt': 'gone',
      'staged.txt': 'before',
      '.gitignore': 'ignored.txt\n',
    })
    const remote = aRemote(repository)
    writeFileSync(join(repository, 'modified.txt'), 'after')
    rmSync(join(repository, 'deleted.txt'))
    writeFileSync(join(repository, 'staged.txt'), 'staged')
    git(repository, 'add', 'staged.txt')
    writeFileSync(join(repository, 'staged.txt'), 'staged, then changed')
    mkdirSync(join(repository, 'new folder'))
    writeFileSync(join(repository, 'new folder', 'ü.txt'), 'new')
    writeFileSync(join(repository, 'ignored.txt'), 'secret')
    const before = stateOf(repository)
    const snapshot = await snapshotOf(repository)
    await snapshot.push('origin', REF)
    expect(stateOf(repository)).toEqual(before)
    expect(snapshot).toMatchObject({ base: git(repository, 'rev-parse', 'HEAD'), changedFiles: 4 })
    const files = git(remote, '-c', 'core.quotePath=false', 'ls-tree', '-r', '--name-only', REF).split('\n')
    expect(files).toEqual(['.gitignore', 'kept.txt', 'modified.txt', 'new folder/ü.txt', 'staged.txt'])
    expect(git(remote, 'show', `${REF}:staged.txt`)).toBe('staged, then changed')
    expect(git(remote, 'rev-parse', REF)).toBe(snapshot.commit)
    expect(git(remote, 'rev-parse', `${REF}^`)).toBe(snapshot.base)
    await snapshot.unpush('origin', REF)
    expect(git(remote, 'for-each-ref', 'refs/millrace')).toBe('')
    expect(stateOf(repository)).toEqual(before)
  })

  it('runs no hooks, signs nothing, and needs no name of the user', async () => {
    const repository = aRepository({ 'a.txt': 'a' })
    const remote = aRemote(repository)
    for (const hook of ['pre-commit', 'pre-push', 'post-index-change', 'reference-transaction']) {
      writeFileSync(join(repository, '.git/hooks', hook), '#!/bin/sh\necho refused >&2\nexit 1\n', {
        mode: 0o755,
      })
    }
    for (const [name, value] of [
      ['user.useConfigOnly', 'true'],
      ['commit.gpgSign', 'true'],
      ['push.gpgSign', 'true'],
      ['push.followTags', 'true'],
    ] as const) {
      git(repository, 'config', name, value)
    }
    git(repository, 'config', '--unset', 'user.name')
    git(repository, 'config', '--unset', 'user.email')
    writeFileSync(join(repository, 'b.txt'), 'b')
    const snapshot = await snapshotOf(repository)
    await snapshot.push('origin', REF)
    expect(git(remote, 'show', `${REF}:b.txt`)).toBe('b')
  })

  it('is made in a subfolder, in a worktree, and before the first commit', async () => {
    const repository = aRepository({ 'a.txt': 'a' })
    const worktree = join(aFolder(), 'other')
    git(repository, 'worktree', 'add', '--quiet', worktree)
    writeFileSync(join(worktree, 'b.txt'), 'b')
    expect(await snapshotOf(worktree)).toMatchObject({ changedFiles: 1 })
    const empty = aFolder({ 'first.txt': '1', 'second.txt': '2' })
    git(empty, 'init', '--quiet', '--initial-branch=main')
    expect(await snapshotOf(empty)).toMatchObject({ base: null, changedFiles: 2 })
  })

  it('refuses a work tree with conflicts', async () => {
    const repository = aRepository({ 'a.txt': 'a' })
    git(repository, 'switch', '--quiet', '--create', 'other')
    writeFileSync(join(repository, 'a.txt'), 'theirs')
    git(repository, 'commit', '--quiet', '--all', '--message', 'Theirs')
    git(repository, 'switch', '--quiet', 'main')
    writeFileSync(join(repository, 'a.txt'), 'ours')
    git(repository, 'commit', '--quiet', '--all', '--message', 'Ours')
    expect(() => execFileSync('git', ['-C', repository, 'merge', 'other'], { stdio: 'pipe' })).toThrow(
      'Command failed',
    )
    await expect(takeSnapshot(repository, 'Preflight')).rejects.toThrow('has merge conflicts')
  })

  it('has the commit of a submodule, and names submodules with changes of their own', async () => {
    const library = aRepository({ 'lib.txt': '1' })
    const repository = aRepository({ 'a.txt': 'a' })
    git(repository, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library, 'lib')
    git(repository, 'commit', '--quiet', '--message', 'Library')
    expect((await snapshotOf(repository)).changedSubmodules).toEqual([])
    writeFileSync(join(repository, 'lib/lib.txt'), '2')
    expect((await snapshotOf(repository)).changedSubmodules).toEqual(['lib'])
  })
})
