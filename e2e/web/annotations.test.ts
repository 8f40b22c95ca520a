import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { theServer } from '../millrace.ts'
import { signIn, visit, withBrowser } from './browser.ts'
import { aScene } from './scene.ts'

withBrowser.describe('annotations', () => {
  it('lead from artifact:// to the artifact of the build, and nowhere without one', async () => {
    const server = theServer()
    const scene = await aScene(server, { steps: 'steps: [{ label: Tests, command: make }]' })
    const run = await scene.begin()
    await run.call('POST', `jobs/${run.id}/artifacts`, {
      id: randomUUID(),
      upload_destination: 's3://elsewhere/files',
      artifacts: [
        {
          path: 'log/a b.txt',
          absolute_path: '/builds/a.txt',
          glob_path: '*',
          file_size: 1,
          sha1sum: '86f7e437faa5a7fce15d1ddcb9eaeaea377667b8',
          sha256sum: 'ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb',
          content_type: 'text/plain',
          url: 'https://elsewhere.example.com/files/a.txt',
        },
      ],
    })
    const id = String((await server.get(`${scene.api}/artifacts`)).body['0']?.['id'])
    await run.call('PUT', `jobs/${run.id}/artifacts`, { artifacts: [{ id, state: 'finished' }] })
    await run.call('POST', `jobs/${run.id}/annotations`, {
      body: '[the log](<artifact://log/a b.txt>) and [no file](artifact://other)',
      context: 'files',
    })
    const tab = await visit()
    await signIn(tab, server, `${scene.page}?tab=annotations`)
    const link = tab.page.getByRole('link', { name: 'the log' })
    await link.waitFor()
    expect(await link.getAttribute('href')).toMatch(new RegExp(`/artifacts/${id}/download$`))
    expect(await tab.page.getByRole('link', { name: 'no file' }).count()).toBe(0)
    expect(tab.complaints).toEqual([])
  })
  it('show pictures that the build uploaded, and align columns as their author wrote', async () => {
    const server = theServer()
    const scene = await aScene(server, { steps: 'steps: [{ label: Tests, command: make }]' })
    const run = await scene.begin()
    const pixel = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    )
    await run.upload('shots/a b.png', 'image/png', pixel)
    await run.call('POST', `jobs/${run.id}/annotations`, {
      body: '![the page](<artifact://shots/a b.png>)\n\n| Test | Seconds |\n| --- | ---: |\n| one | 12 |',
      context: 'shots',
    })
    const tab = await visit()
    await signIn(tab, server, `${scene.page}?tab=annotations`)
    const picture = tab.page.getByRole('img', { name: 'the page' })
    await picture.waitFor()
    expect(await picture.evaluate((element) => (element as HTMLImageElement).naturalWidth)).toBe(1)
    expect(await picture.getAttribute('src')).toMatch(/^data:image\/png;base64,/)
    const cell = tab.page.getByRole('cell', { name: '12' })
    expect(await cell.evaluate((element) => getComputedStyle(element).textAlign)).toBe('right')
    expect(tab.complaints).toEqual([])
  })
})
