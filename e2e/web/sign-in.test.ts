import { describe, expect, it } from 'vitest'
import { theServer } from '../millrace.ts'
import { lacks, titled, visit } from './browser.ts'
import { aScene } from './scene.ts'

describe.skipIf(lacks !== null)(titled('signing in'), () => {
  it('leads to the job of the link that was opened', async () => {
    const server = theServer()
    const scene = await aScene(server, {
      steps: 'steps: [{ label: Linked, command: a }, { label: Other, command: b }]',
    })
    const run = await scene.begin()
    await run.write('the log of the linked job\r\n')
    const { body } = await server.get(`${scene.api}/jobs/${run.id}`)
    const link = String(body['web_url'])
    const tab = await visit()
    const { page } = tab
    await page.goto(link)
    await page.waitForURL(/\/sign-in/)
    await page.getByLabel('Access token').fill(server.token)
    await page
      .locator('form', { has: page.getByLabel('Access token') })
      .getByRole('button')
      .click()
    await page.waitForURL(link)
    await page.getByRole('region', { name: `Job ${run.name}` }).waitFor()
    await page.getByText('the log of the linked job').waitFor()
    expect(tab.complaints.filter((text) => !text.includes('401'))).toEqual([])
  })
})
