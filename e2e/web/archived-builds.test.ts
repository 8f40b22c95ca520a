import { expect } from 'vitest'
import { theServer } from '../millrace.ts'
import { archiveBuilds } from './archived-builds.ts'
import { signIn, visit, withBrowser } from './browser.ts'
import { aScene } from './scene.ts'

withBrowser.it('archived builds are listed, opened by the arrows, and read at their address', async () => {
  const server = theServer()
  const scene = await aScene(server, {
    steps: 'steps: [{ label: Tests, command: make }]',
    message: 'From long ago',
  })
  const run = await scene.begin()
  await run.write('the only row\r\n')
  await run.upload('report.txt', 'text/plain', Buffer.from('report'))
  await run.finish(1)
  const tab = await visit()
  const { page } = tab
  await signIn(tab, server, `/default/${scene.pipeline}`)
  await page.getByRole('list', { name: 'Builds' }).getByText('From long ago').waitFor()
  expect(await page.getByText(/archived/).count()).toBe(0)
  await archiveBuilds(server, server.settings, scene.pipeline)

  await page.goto(`${server.url}/default/${scene.pipeline}`)
  await page.getByRole('link', { name: '1 older build is archived' }).click()
  await page.getByRole('heading', { level: 1, name: /^Archived builds of / }).waitFor()
  await page.getByRole('table', { name: 'Archived builds' }).getByText('From long ago').waitFor()
  await page.getByRole('heading', { level: 1 }).focus()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')

  // The address of the build has stayed.
  await page.waitForURL(server.url + scene.page)
  await page.getByRole('heading', { level: 1, name: 'From long ago' }).waitFor()
  const jobs = page.getByRole('table', { name: 'Jobs' })
  await jobs.getByRole('row', { name: /Tests.*Failed.*not kept/ }).waitFor()
  await page.getByRole('table', { name: 'Artifacts' }).getByText('report.txt').waitFor()
  expect(await page.getByRole('button', { name: /Rebuild|Retry/ }).count()).toBe(0)

  await page.goto(`${server.url}/organizations/default/settings/archive`)
  await page
    .getByRole('table', { name: 'Archived builds by pipeline' })
    .getByRole('link', { name: /^Scene/ })
    .first()
    .waitFor()
  // Of the graph, which an archived build has not.
  expect(tab.complaints.filter((complaint) => !complaint.includes('404'))).toEqual([])
})
