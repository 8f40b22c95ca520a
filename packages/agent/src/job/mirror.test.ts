import { execFileSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { aFolder, anAgent } from '../../test/agent.ts'
import { mirrorName, updateMirror } from './mirror.ts'

async function aRepository() {
  const folder = await aFolder()
  const who = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', '-c', 'init.defaultBranch=main']
  const git = (...args: string[]) =>
    execFileSync('git', [...who, ...args], { cwd: folder })
      .toString()
      .trim()
  git('init', '-q')
  const commit = async (text: string) => {
    await writeFile(join(folder, 'file'), text)
    git('add', '.')
    git('commit', '-qm', text)
    return git('rev-parse', 'HEAD')
  }
  return { url: folder, commit }
}

describe('a git mirror', () => {
  it('is used by clones, which fetch missing objects', async () => {
    const mirrorsPath = await aFolder()
    const repository = await aRepository()
    await repository.commit('one')
    await updateMirror(mirrorsPath, repository.url)
    const commit = await repository.commit('two')
    const { server, folder } = await anAgent({ mirrorsPath })
    const id = server.offer({
      BUILDKITE_SKIP_CHECKOUT: 'false',
      BUILDKITE_REPO: repository.url,
      BUILDKITE_COMMIT: commit,
      BUILDKITE_BRANCH: 'main',
      BUILDKITE_COMMAND: 'cat file',
    })
    expect(await server.finished(id)).toMatchObject({ exit_status: '0' })
    expect(server.log(id)).toContain('two')
    const checkout = join(folder, 'builds', 'tester', 'acme', 'demo')
    const alternates = await readFile(join(checkout, '.git/objects/info/alternates'), 'utf8')
    expect(alternates).toContain(join(mirrorsPath, mirrorName(repository.url)))
  })

  it('is brought up to date, and is left as it is by an update that fails', async () => {
    const mirrorsPath = await aFolder()
    const repository = await aRepository()
    const mirror = join(mirrorsPath, mirrorName(repository.url))
    const head = () => execFileSync('git', ['--git-dir', mirror, 'rev-parse', 'main']).toString().trim()
    const one = await repository.commit('one')
    await updateMirror(mirrorsPath, repository.url)
    expect(head()).toBe(one)
    const two = await repository.commit('two')
    await updateMirror(mirrorsPath, repository.url)
    expect(head()).toBe(two)
    await expect(updateMirror(mirrorsPath, join(repository.url, 'nowhere'))).rejects.toThrow('nowhere')
    expect(head()).toBe(two)
  })

  it('is done without where there is none', async () => {
    const repository = await aRepository()
    await repository.commit('one')
    const { server } = await anAgent({ mirrorsPath: await aFolder() })
    const id = server.offer({
      BUILDKITE_SKIP_CHECKOUT: 'false',
      BUILDKITE_REPO: repository.url,
      BUILDKITE_COMMIT: 'HEAD',
      BUILDKITE_BRANCH: 'main',
      BUILDKITE_COMMAND: 'cat file',
    })
    expect(await server.finished(id)).toMatchObject({ exit_status: '0' })
  })
})
