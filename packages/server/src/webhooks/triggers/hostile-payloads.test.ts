// Hostile payloads for triggers: huge, deep, full of keys, or with names that JavaScript gives a meaning.
import { describe, expect, it } from 'vitest'
import { baseUrl, useApp } from '../../../test/app.ts'
import { anAdmin, anOrganization, aPipeline } from '../../../test/builders.ts'

const app = useApp()

async function aTrigger(fields: object = {}) {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  const pipeline = await aPipeline(app, org, 'steps:\n  - command: make\n')
  const { body } = await app.request('POST', `${pipeline.path}/triggers`, {
    token: admin.token,
    body: { name: 'Any', signature: 'none', ...fields },
  })
  const send = (text: string, headers: Record<string, string> = {}) =>
    app.request('POST', String(body.address).replace(baseUrl, ''), { text, headers })
  const builds = () =>
    app.db
      .selectFrom('builds')
      .select(['branch', 'message', 'env', 'commit'])
      .where('pipeline_id', '=', pipeline.id)
      .orderBy('number')
      .execute()
  return { send, builds }
}

describe('a payload', () => {
  it('of 10 MB is 413, and of a mebibyte is read', async () => {
    const { send, builds } = await aTrigger({ message: { pointer: '/text' } })
    const large = (bytes: number) => JSON.stringify({ text: 'x'.repeat(bytes) })
    for (const bytes of [10_000_000, 1024 * 1024]) expect((await send(large(bytes))).status).toBe(413)
    expect((await send(large(1024 * 1024 - 100))).status).toBe(200)
    expect((await builds()).map(({ message }) => message?.length)).toEqual([65_536])
  })

  it.each([
    ['100,000 keys', JSON.stringify(Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [i, 1])))],
    ['100,000 values', JSON.stringify({ a: Array.from({ length: 100_000 }, () => 0) })],
    ['a depth of 100,000', `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    ['a depth of 100,000 that does not end', `{"a":${'['.repeat(100_000)}`],
    ['no object', '[]'],
    ['a text', '"x"'],
    ['nothing', ''],
    ['no JSON', '{'],
    ['a NUL', '{"a": "\\u0000"}'],
    ['half a pair', '{"a": "\\ud800"}'],
  ])('with %s is 400', async (_, text) => {
    const { send, builds } = await aTrigger()
    expect((await send(text)).status).toBe(400)
    expect(await builds()).toEqual([])
  })

  it('has only what it says itself, not what every object has', async () => {
    const names = ['/__proto__/polluted', '/constructor/name', '/toString', '/list/length', '/text/length']
    for (const pointer of names) {
      const { send, builds } = await aTrigger({ env: { A: { pointer, default: 'none' } } })
      await send('{"list": [1], "text": "abc"}')
      expect([pointer, await builds()]).toMatchObject([pointer, [{ env: { A: 'none' } }]])
    }
    const { send, builds } = await aTrigger({ env: { A: { pointer: '/__proto__/polluted' } } })
    await send('{"__proto__": {"polluted": "yes"}}')
    expect(await builds()).toMatchObject([{ env: { A: 'yes' } }])
    expect(Reflect.get({}, 'polluted')).toBe(undefined)
  })

  it('that is huge where the mapping points makes no build', async () => {
    const { send, builds } = await aTrigger({
      branch: { pointer: '/branch', default: 'main' },
      env: { A: { pointer: '/a', default: '' } },
    })
    const huge = 'x'.repeat(900_000)
    expect((await send(JSON.stringify({ a: huge }))).body.message).toMatch(
      /more than 65536 characters at \/a/,
    )
    expect((await send(JSON.stringify({ branch: huge }))).status).toBe(422)
    expect(await builds()).toEqual([])
  })

  it('that is huge where a regular expression looks does not hold the server', async () => {
    const { send } = await aTrigger({ condition: 'payload("/a") =~ /^(a+)+$/' })
    expect([200, 422]).toContain((await send(JSON.stringify({ a: `${'a'.repeat(900_000)}!` }))).status)
  })

  it('cannot name variables, and its values stay values', async () => {
    const { send, builds } = await aTrigger({
      branch: { pointer: '/ref' },
      env: { A: { pointer: '/a' } },
    })
    const value = '$(touch /tmp/x)\nB=injected\n${BUILDKITE_TAG}'
    await send(JSON.stringify({ ref: 'main', a: value, env: { B: 'x' }, B: 'x' }))
    expect(await builds()).toMatchObject([{ env: { A: value } }])
    expect(Object.keys((await builds())[0]?.env ?? {})).toEqual(['A'])
  })
})
