import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { aFolder, aRepository, commitAll, git, putFile, run } from '../../test/running.ts'
import { findChangedPaths, findCheckout } from './checkout.ts'
import { withoutOuterBuild } from './facts.ts'

describe('millrace run FILE: the checkout', () => {
  it('is the repository that the file lies in', async () => {
    const folder = aRepository({ 'ci/pipeline.yml': '' })
    git(folder, 'remote', 'add', 'origin', 'git@example.com:acme/app.git')
    expect(await findCheckout(join(folder, 'ci'), '/')).toEqual({
      root: folder,
      branch: 'main',
      commit: git(folder, 'rev-parse', 'HEAD'),
      message: 'First',
      repository: 'git@example.com:acme/app.git',
      defaultBranch: null,
      user: { name: 'Ada', email: 'ada@example.com' },
    })
    const outside = aFolder()
    expect(await findCheckout(outside, outside)).toMatchObject({
      root: outside,
      branch: 'main',
      commit: 'HEAD',
    })
  })

  it('decides if_changed: against where the branch began, or by the last commit', async () => {
    const folder = aRepository({ 'a.txt': '1', 'docs/b.txt': '1' })
    const pipeline = `
      steps:
        - {label: code, command: "true", if_changed: "*.txt"}
        - {label: docs, command: "true", if_changed: "docs/**"}
    `
    const states = async () => {
      const checkout = await findCheckout(folder, folder)
      return (await run(pipeline, { folder, checkout })).states
    }
    expect(await states(), 'nothing to compare with').toEqual({ code: 'passed', docs: 'passed' })
    git(folder, 'update-ref', 'refs/remotes/origin/main', 'HEAD')
    putFile(folder, 'docs/b.txt', '2')
    commitAll(folder, 'Second')
    expect(await states()).toEqual({ code: 'broken', docs: 'passed' })
    putFile(folder, 'a.txt', '2')
    expect(await states(), 'uncommitted').toEqual({ code: 'passed', docs: 'passed' })
    git(folder, 'checkout', '--quiet', 'a.txt')
    git(folder, 'update-ref', 'refs/remotes/origin/main', 'HEAD')
    expect(await states(), 'on the base itself').toEqual({ code: 'broken', docs: 'passed' })
    expect(await findChangedPaths(await findCheckout(folder, folder), 'nowhere')).toBeNull()
  })

  it('does not mistake the variables of a build around it for its own', () => {
    expect(withoutOuterBuild({ BUILDKITE: 'true', BUILDKITE_TAG: 'v1', HOME: '/h' })).toEqual({ HOME: '/h' })
    expect(withoutOuterBuild({ BUILDKITE_API_TOKEN: 't', GONE: undefined })).toEqual({
      BUILDKITE_API_TOKEN: 't',
    })
  })
})
