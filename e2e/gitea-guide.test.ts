// docs/guide/gitea.md, followed word for word with a real Gitea.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished } from 'vitest'
import { giteaLacks, startGitea } from '../testbed/src/gitea.ts'
import { needing } from '../testbed/src/needing.ts'
import { problemsOf, runInShell } from './blocks-in-shell.ts'
import { readBlocks, runBlocks } from './markdown-blocks.ts'
import { aSharedDirectory, theServer } from './millrace.ts'

const { it } = needing('programs', giteaLacks)

const guide = fileURLToPath(new URL('../docs/guide/', import.meta.url))
const blocksOf = (page: string) => readBlocks(readFileSync(`${guide}${page}`, 'utf8'))

it('docs/guide/gitea.md connects a private repository of Gitea', async () => {
  const gitea = await startGitea(aSharedDirectory())
  onTestFinished(gitea.stop)
  const ok = async (method: string, path: string, body: object) => {
    const { status } = await gitea.api(method, path, body)
    expect([path, status < 300]).toEqual([path, true])
  }
  await ok('POST', '/orgs', { username: 'acme', visibility: 'private' })
  await ok('POST', '/orgs/acme/repos', {
    name: 'shop',
    private: true,
    default_branch: 'main',
    // Gitea sends no test for a repository without commits.
    auto_init: true,
  })
  const token = await gitea.addUser('millrace')
  await ok('PUT', '/repos/acme/shop/collaborators/millrace', { permission: 'admin' })

  const server = theServer()
  const blocks = runBlocks(blocksOf('gitea.md'), 'gitea')
  const setup = blocksOf('README.md').filter(({ language, mark }) => language === 'sh' && mark === 'setup')
  expect(blocks.length).toBeGreaterThan(4)
  const ran = await runInShell(blocks, {
    folder: aSharedDirectory(),
    before: setup.map(({ text }) => text),
    settings: {
      MILLRACE_URL: server.url,
      MILLRACE_TOKEN: server.token,
      MILLRACE_ORG: 'default',
      GITEA: gitea.url,
      GITEA_TOKEN: token,
      REPOSITORY: 'acme/shop',
    },
  })
  expect(problemsOf(blocks, ran)).toEqual([])
})
