import { describe, expect, it } from 'vitest'
import { useApp } from '../../../test/app.ts'
import { aRunningJob, type TestRun } from '../../../test/agent-client.ts'
import { readCommitText } from '../../lib/commit-text.ts'

const app = useApp()

const buildRow = (id: string) =>
  app.db.selectFrom('builds').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

describe('meta-data', () => {
  const data = (run: TestRun, verb: string, body?: object) =>
    run.call('POST', `jobs/${run.id}/data/${verb}`, body === undefined ? {} : { body })

  it('is set, read, looked for and listed, under the job and under its build', async () => {
    const { run, build } = await aRunningJob(app)
    expect(await data(run, 'set', { key: 'release', value: '1.2' })).toMatchObject({ status: 200 })
    expect(
      (
        await data(run, 'set-batch', {
          items: [
            { key: 'a', value: '1' },
            { key: 'b', value: '2' },
          ],
        })
      ).status,
    ).toBe(200)
    for (const place of [`jobs/${run.id}`, `builds/${build.id}`]) {
      const ask = (verb: string, body?: object) =>
        run.call('POST', `${place}/data/${verb}`, body === undefined ? {} : { body })
      expect((await ask('get', { key: 'release' })).body).toEqual({ key: 'release', value: '1.2' })
      expect((await ask('exists', { key: 'a' })).body).toEqual({ exists: true })
      expect((await ask('exists', { key: 'z' })).body).toEqual({ exists: false })
      expect((await ask('keys')).body).toEqual(['a', 'b', 'release'])
      expect(await ask('get', { key: 'z' })).toMatchObject({
        status: 404,
        body: { message: 'No meta-data found' },
      })
    }
  })

  it('is replaced by the last writer, all of a batch or none', async () => {
    const { run } = await aRunningJob(app)
    await data(run, 'set', { key: 'k', value: 'old' })
    expect(
      (
        await data(run, 'set-batch', {
          items: [
            { key: 'k', value: 'new' },
            { key: 'x', value: ' ' },
          ],
        })
      ).status,
    ).toBe(422)
    expect((await data(run, 'get', { key: 'k' })).body.value).toBe('old')
    await Promise.all(
      Array.from({ length: 10 }, (_, index) => data(run, 'set', { key: 'k', value: `v${index}` })),
    )
    expect((await data(run, 'get', { key: 'k' })).body.value).toMatch(/^v\d$/)
  })

  it('takes values of 100 KiB and refuses larger, blank and reserved ones', async () => {
    const { run } = await aRunningJob(app)
    const status = async (key: string, value: string) => (await data(run, 'set', { key, value })).status
    expect(await status('large', 'ä'.repeat(51_200))).toBe(200)
    expect(await status('larger', 'ä'.repeat(51_201))).toBe(422)
    expect(await status('', 'x')).toBe(422)
    expect(await status('k', ' \n')).toBe(422)
    expect(await status('buildkite:webhook', 'x')).toBe(422)
  })

  it('sets the commit of the build', async () => {
    const { run, build } = await aRunningJob(app)
    const value = `commit ${'a1'.repeat(20)}\nabbrev-commit a1a1a1a\nAuthor: Ada L <ada@example.com>\n\n    Fix it\n    \n    For good`
    expect((await data(run, 'exists', { key: 'buildkite:git:commit' })).body).toEqual({ exists: false })
    expect((await data(run, 'set', { key: 'buildkite:git:commit', value })).status).toBe(200)
    expect(await buildRow(build.id)).toMatchObject({
      commit: 'a1'.repeat(20),
      message: 'Fix it\n\nFor good',
      author: { name: 'Ada L', email: 'ada@example.com' },
    })
  })

  it('leaves a commit alone that is whole already, and text that is none', async () => {
    const { run, build } = await aRunningJob(app, undefined, { commit: 'b'.repeat(40), message: 'Mine' })
    await data(run, 'set', { key: 'buildkite:git:commit', value: `commit ${'c'.repeat(40)}\n\n    Theirs` })
    expect(await buildRow(build.id)).toMatchObject({ commit: 'b'.repeat(40), message: 'Mine' })
    expect(readCommitText('HEAD')).toBeNull()
  })

  it.each([
    ['Author: Ada L  <ada@example.com>', { name: 'Ada L', email: 'ada@example.com' }],
    ['Author:<ada@example.com>', { name: '', email: 'ada@example.com' }],
    ['Author: Ada > L <of> <ada@example.com>', { name: 'Ada > L', email: 'of' }],
    ['Author: Ada <L <ada@example.com>', { name: 'Ada <L', email: 'ada@example.com' }],
    ['Author: Ada L', null],
    ['Author: > Ada', null],
    // It took hours when it was read with a regular expression.
    [`Author:${' '.repeat(100_000)}`, null],
  ])('reads the author of a commit in time: %.60s', (line, author) => {
    expect(readCommitText(`commit ${'c'.repeat(40)}\n${line}\n\n    Message`)?.author).toEqual(author)
  })
})
