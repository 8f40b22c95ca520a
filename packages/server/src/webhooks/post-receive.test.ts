import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useApp } from '../../test/app.ts'
import { anAdmin, anOrganization, aPipeline, type TestOrganization } from '../../test/builders.ts'
import { deliver, noCommit, webhookPath } from '../../test/deliveries.ts'
import { aRepository, type TestRepository } from '../../test/remote-hosts/git.ts'

const app = useApp()

let org: TestOrganization
let token: string
let repository: TestRepository
beforeAll(async () => {
  org = await anOrganization(app)
  token = (await anAdmin(app, org)).token
  repository = await aRepository()
})
afterAll(() => repository.remove())

const builds = async (pipeline: { path: string }) =>
  (await app.request('GET', `${pipeline.path}/builds`, { token })).list

describe('POST webhook_url from a post-receive hook', () => {
  it('builds what is pushed to a real repository', async () => {
    const pipeline = await aPipeline(app, org, 'steps: [{ command: make }]', {
      repository: repository.bare,
      provider_settings: JSON.stringify({ build_tags: true }),
    })
    const url = app.address + (await webhookPath(app, pipeline))
    await repository.hook(`#!/bin/sh
while read old new ref; do
  echo "$old $new $ref"
  git log -1 --no-decorate --no-color --encoding=UTF-8 "$new" 2>/dev/null
done | curl -fsS -H "Content-Type: text/plain" --data-binary @- "${url}" >&2
`)
    const first = await repository.commit('Begin\n\nwith "quotes" and ümlauts')
    await repository.git('push', '--quiet', 'origin', 'main')
    await repository.commit('Nothing to see [ci skip]')
    await repository.git('push', '--quiet', 'origin', 'main')
    await repository.git('tag', '-a', 'v1', '-m', 'The first', first)
    await repository.git('checkout', '--quiet', '-b', 'feature/x')
    const second = await repository.commit('Go on')
    await repository.git('push', '--quiet', 'origin', 'v1', 'feature/x')
    const made = (await builds(pipeline)).map(({ branch, tag, commit, message, source, author }) => {
      return { branch, tag, commit, message, source, name: author?.name }
    })
    const rest = { source: 'webhook', name: 'Ada Example' }
    expect(made.toSorted((a, b) => String(a.branch).localeCompare(String(b.branch)))).toEqual([
      { branch: 'feature/x', tag: null, commit: second, message: 'Go on', ...rest },
      { branch: 'main', tag: null, commit: first, message: 'Begin\n\nwith "quotes" and ümlauts', ...rest },
      { branch: 'v1', tag: 'v1', commit: first, message: 'Begin\n\nwith "quotes" and ümlauts', ...rest },
    ])
  })

  it('takes the bare lines too, and says what became of each', async () => {
    const pipeline = await aPipeline(app, org, 'steps: [{ command: make }]', { repository: '/srv/app.git' })
    const commit = 'a'.repeat(40)
    const lines = [
      `${noCommit} ${commit} refs/heads/main`,
      `${commit} ${noCommit} refs/heads/old`,
      `${noCommit} ${commit} refs/notes/x`,
    ]
    const answer = await deliver(app, pipeline, { headers: {}, body: `${lines.join('\n')}\n` })
    expect(answer.body.message).toBe(
      'Build #1 of main was made. The branch old was deleted, and cancel_deleted_branch_builds is off. The ref refs/notes/x is neither branch nor tag.',
    )
  })

  it('answers 400 to refs that are none', async () => {
    const pipeline = await aPipeline(app, org, 'steps: []', { repository: '/srv/app.git' })
    const commit = 'a'.repeat(40)
    for (const ref of ['refs/heads/-rf', 'refs/heads/a~b', `refs/heads/${'x'.repeat(500)}`]) {
      const answer = await deliver(app, pipeline, { headers: {}, body: `${noCommit} ${commit} ${ref}` })
      expect([ref.slice(0, 20), answer.status]).toEqual([ref.slice(0, 20), 400])
    }
  })
})
