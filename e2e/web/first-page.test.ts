import { request } from 'node:http'
import { expect, it } from 'vitest'
import { theServer } from '../millrace.ts'
import { signIn, visit, withBrowser } from './browser.ts'

const mostBytes = 180_000

withBrowser.describe('the first page', () => {
  it('needs at most 180 kB of scripts and styles, compressed', async () => {
    const server = theServer()
    const tab = await visit()
    // What the shell loads two seconds later, to have it at hand, is no part of the page.
    await tab.page.addInitScript(() => {
      const setSooner = window.setTimeout.bind(window)
      const never = 0
      Object.assign(window, {
        setTimeout: (run: () => void, ms = 0) => (ms >= 2000 ? never : setSooner(run, ms)),
      })
    })
    await signIn(tab, server, '/default')
    await tab.page.getByRole('list', { name: 'Pipelines' }).getByRole('link', { name: 'Demo' }).waitFor()
    const files = await tab.page.evaluate(() =>
      performance
        .getEntriesByType('resource')
        .map(({ name }) => name)
        .filter((name) => /\/assets\/.*\.(js|css)$/.test(name)),
    )
    const sizes = await Promise.all(
      [...new Set(files)].map(async (file) => [file, await compressedSize(file)] as const),
    )
    expect(sizes.length).toBeGreaterThan(10)
    expect(sizes.filter(([, size]) => size === 0)).toEqual([])
    expect(sizes.reduce((sum, [, size]) => sum + size, 0)).toBeLessThanOrEqual(mostBytes)
  })
})

/** Fetch would undo the compression. */
const compressedSize = (url: string): Promise<number> =>
  new Promise((resolve, reject) => {
    request(url, { headers: { 'accept-encoding': 'gzip' } }, (response) => {
      let size = 0
      response.on('data', (chunk: Buffer) => (size += chunk.length))
      response.on('end', () => resolve(response.headers['content-encoding'] === 'gzip' ? size : 0))
    })
      .on('error', reject)
      .end()
  })
