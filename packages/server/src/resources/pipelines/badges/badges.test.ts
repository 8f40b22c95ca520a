import { beforeAll, describe, expect, it } from 'vitest'
import { useApp } from '../../../../test/app.ts'
import { anOrganization, aPipeline, type TestOrganization } from '../../../../test/builders.ts'
import { aBuild, runJob, startJob, applyEvent } from '../../../../test/runs.ts'

const app = useApp()

let org: TestOrganization
beforeAll(async () => {
  org = await anOrganization(app)
})

async function aBadge(steps: string) {
  const pipeline = await aPipeline(app, org, `steps: ${steps}`)
  const { badge_token: token } = await app.db
    .selectFrom('pipelines')
    .select('badge_token')
    .where('id', '=', pipeline.id)
    .executeTakeFirstOrThrow()
  const status = async (query = '') => (await app.request('GET', `/badges/${token}.json${query}`)).body.status
  const image = (query = '', headers = {}) => app.request('GET', `/badges/${token}.svg${query}`, { headers })
  return { pipeline, status, image }
}

describe('GET badge_url', () => {
  it('says how the newest build that passed or failed ended', async () => {
    const { pipeline, status } = await aBadge('[{ command: a }]')
    expect(await status()).toBe('unknown')
    await runJob(app, await aBuild(app, org, pipeline), 'a')
    expect(await status()).toBe('passing')
    await runJob(app, await aBuild(app, org, pipeline), 'a', 1)
    expect(await status()).toBe('failing')
    // Neither one that still runs nor one that was canceled changes that.
    await startJob(app, await aBuild(app, org, pipeline), 'a')
    await applyEvent(app, await aBuild(app, org, pipeline), { type: 'cancel_build', reason: null })
    expect(await status()).toBe('failing')
  })

  it('leaves out builds of work trees that are not committed', async () => {
    const { pipeline, status } = await aBadge('[{ command: a }]')
    await runJob(app, await aBuild(app, org, pipeline), 'a')
    await runJob(app, await aBuild(app, org, pipeline, { env: { BUILDKITE_PREFLIGHT: 'true' } }), 'a', 1)
    expect(await status()).toBe('passing')
  })

  it('counts a blocked build as its block says', async () => {
    const { pipeline, status } = await aBadge('[{ command: a }, { block: b, blocked_state: failed }]')
    await runJob(app, await aBuild(app, org, pipeline), 'a')
    expect(await status()).toBe('failing')
  })

  it('filters by branch and by step, named by label or key', async () => {
    const steps =
      '[{ command: a, label: "Test & lint", soft_fail: true }, { command: b, key: deploy }, { command: c, label: Never, if: "false" }]'
    const { pipeline, status } = await aBadge(steps)
    const build = await aBuild(app, org, pipeline, { branch: 'feature/x' })
    await runJob(app, build, 'a', 1)
    await runJob(app, build, 'b', 1)
    expect([await status('?branch=main'), await status('?branch=feature/x')]).toEqual(['unknown', 'failing'])
    expect(await status('?step=deploy')).toBe('failing')
    expect(await status(`?step=${encodeURIComponent('Test & lint')}`)).toBe('passing')
    expect([await status('?step=Never'), await status('?step=nobody')]).toEqual(['unknown', 'unknown'])
    expect(await status('?branch=%00')).toBeUndefined()
    expect(await status('?branch=%ED%A0%80')).toBeDefined()
  })

  it('renders an image that proxies may cache while it is unchanged', async () => {
    const { pipeline, image } = await aBadge('[{ command: a }]')
    const before = await image()
    expect([before.status, before.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
    expect(before.text).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg".*unknown.*<\/svg>$/)
    expect(before.headers.get('cache-control')).toBe('public, max-age=0, must-revalidate')
    const tag = before.headers.get('etag') ?? ''
    const again = await image('', { 'If-None-Match': `"x", W/${tag}` })
    expect([again.status, again.text]).toEqual([304, ''])
    await runJob(app, await aBuild(app, org, pipeline), 'a')
    const after = await image('', { 'If-None-Match': tag })
    expect([after.status, after.text.includes('passing')]).toEqual([200, true])
  })

  it('takes styles and themes, and lets nothing else into the image (abuse case 12)', async () => {
    const { image } = await aBadge('[{ command: a }]')
    expect((await image()).text).toContain('rx="3"')
    expect((await image('?style=flat-square')).text).toContain('rx="0"')
    expect((await image('?theme=0f0,f00,%23ABC,123456')).text).toMatch(/#123456.*#abc/)
    const plain = (await image()).text
    for (const evil of [
      '<script>alert(1)</script>',
      '"/><script>',
      'javascript:alert(1)',
      '000"onload=',
      '__proto__',
    ]) {
      const query = ['branch', 'step', 'style', 'theme']
        .map((name) => `${name}=${encodeURIComponent(evil)}`)
        .join('&')
      const answer = await image(`?${query}`)
      expect([answer.status, answer.text]).toEqual([200, plain])
      expect(answer.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox")
    }
  })

  it('answers 404 to a token that no pipeline has, and says nothing of the pipeline (abuse case 12)', async () => {
    for (const name of ['0'.repeat(50), 'x', '..%2F..%2Fetc', "' or 1=1"]) {
      for (const kind of ['svg', 'json']) {
        const answer = await app.request('GET', `/badges/${encodeURIComponent(name)}.${kind}`)
        expect([answer.status, answer.body]).toEqual([404, { message: 'No badge found' }])
      }
    }
    const { pipeline, image } = await aBadge('[{ command: a }]')
    const { text } = await image()
    expect(text).not.toContain(pipeline.slug)
    // It leads nowhere either.
    expect(text).not.toMatch(/<a\b|href|<script|<image/)
  })
})
