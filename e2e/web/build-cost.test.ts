import { expect, it } from 'vitest'
import { theServer } from '../millrace.ts'
import { signIn, visit, withBrowser } from './browser.ts'
import { aScene } from './scene.ts'

withBrowser.describe('the cost of a build', () => {
  it('appears on its open page when a job has ended, and grows with the next', async () => {
    const server = theServer()
    const scene = await aScene(server, {
      steps: 'steps: [{ label: One, command: make }, wait, { label: Two, command: make }]',
    })
    await server.put(scene.queueApi, { price_per_minute: 1_000_000 })
    const first = await scene.begin()
    const tab = await visit()
    await signIn(tab, server, scene.page)
    await tab.page.getByRole('list', { name: 'Jobs' }).getByRole('link', { name: /One/ }).waitFor()
    const cost = tab.page.getByTitle('What its jobs have cost that have ended')
    expect(await cost.count()).toBe(0)
    await first.finish()
    await cost.waitFor()
    const before = await cost.textContent()
    const second = await scene.begin()
    await second.finish()
    await expect.poll(() => cost.textContent()).not.toBe(before)
    const { cost: stored } = (await server.get(scene.api)).body
    expect((await cost.textContent())?.replaceAll(/[^\d.]/g, '')).toBe(Number(stored?.['amount']).toFixed(2))
    expect(tab.complaints).toEqual([])
  })
})
