import { expect, it } from 'vitest'
import { theServer } from '../millrace.ts'
import { signIn, visit, withBrowser } from '../web/browser.ts'
import { readRows, rowAt, seeRow } from '../web/log-page.ts'
import { aScene, rowsOf } from '../web/scene.ts'

const threeJobs =
  'steps: [{ label: One, command: a }, { label: Two, command: b }, { label: Three, command: c }]'

withBrowser.describe('the page of a build', () => {
  it('shows the failing row after one click on a red bar in the list of pipelines', async () => {
    const server = theServer()
    const scene = await aScene(server, { steps: 'steps: [{ label: Tests, command: make }]' })
    const run = await scene.begin()
    await run.write(
      `--- Set up\r\n${rowsOf(2, 400)}+++ Tests\r\n\x1b[31mAssertionError: 3 is not 4\x1b[0m\r\n`,
    )
    await run.write(rowsOf(403, 800))
    await run.finish(1)
    const tab = await visit()
    await signIn(tab, server, `/default?q=${scene.pipeline}`)
    await tab.page
      .getByRole('group', { name: 'Last builds' })
      .getByRole('link', { name: /#1 Failed/ })
      .click()
    await seeRow(tab.page, 402)
    await rowAt(tab.page, 402).getByText('AssertionError: 3 is not 4').waitFor()
    expect(tab.complaints).toEqual([])
  })

  it('lists why the build failed, with the failing rows, and opens the log at them', async () => {
    const server = theServer()
    const scene = await aScene(server, { steps: 'steps: [{ label: Tests, command: make }]' })
    const run = await scene.begin()
    const failing = 'Error: 3 is <b>not</b> 4'
    await run.write(`--- Set up\r\n${rowsOf(2, 370)}+++ Tests\r\n${rowsOf(372, 401)}${failing}\r\n`)
    await run.write(rowsOf(403, 412))
    await run.finish(1)
    const tab = await visit()
    await signIn(tab, server, scene.page)
    const { page } = tab
    await page.getByRole('link', { name: 'Failures' }).click()
    const failure = page.getByRole('listitem').filter({ hasText: 'exit 1' })
    const row = await failure.getByText(failing, { exact: true }).boundingBox()
    const shown = await failure.getByRole('region').boundingBox()
    expect(row?.y).toBeGreaterThan(shown?.y ?? Infinity)
    expect(row?.y).toBeLessThan((shown?.y ?? 0) + (shown?.height ?? 0))
    await failure.getByRole('link', { name: 'Tests' }).click()
    await page.waitForURL(`${server.url}${scene.page}?tab=failures#${run.id}/L402`)
    await seeRow(page, 402)
    expect(tab.complaints).toEqual([])
  })

  it('opens a failed build with the job that failed first, and walks all failures with f', async () => {
    const server = theServer()
    const scene = await aScene(server, { steps: threeJobs })
    const runs = [await scene.begin()]
    await runs[0]?.finish(1)
    for (const exitStatus of [2, 3]) {
      const run = await scene.begin()
      runs.push(run)
      await run.finish(exitStatus)
    }
    const names = runs.map(({ name }) => name)
    const tab = await visit()
    await signIn(tab, server, scene.page)
    const { page } = tab
    await page.getByRole('region', { name: `Job ${names[0]}` }).waitFor()
    const announced = page.locator('[data-part=announcements]')
    for (const [key, position] of [
      ['f', 2],
      ['f', 3],
      ['f', 1],
      ['Shift+F', 3],
    ] as const) {
      await page.keyboard.press(key)
      await announced.getByText(`${position} of 3: ${names[position - 1]}`).waitFor({ state: 'attached' })
      await page.getByRole('region', { name: `Job ${names[position - 1]}` }).waitFor()
    }
    expect(tab.complaints).toEqual([])
  })

  it('keeps view, filter, job and rows over reload and back', async () => {
    const server = theServer()
    const scene = await aScene(server, { steps: threeJobs })
    const run = await scene.begin()
    await run.write(rowsOf(1, 20))
    await run.finish(0)
    const tab = await visit()
    await signIn(tab, server, scene.page)
    const { page } = tab
    await page.getByRole('link', { name: 'Table' }).click()
    await page.getByLabel('Filter jobs by name').fill(run.name)
    await page.getByText('1 of 3 jobs').waitFor()
    await page.getByRole('table', { name: 'Jobs' }).getByRole('link', { name: run.name }).click()
    await rowAt(page, 5).getByRole('link', { name: 'Row 5' }).click()
    await rowAt(page, 9)
      .getByRole('link', { name: 'Row 9' })
      .click({ modifiers: ['Shift'] })
    const address = `${server.url}${scene.page}?view=table&filter=${run.name}#${run.id}/L5-L9`
    await page.waitForURL(address)
    const looks = async () => {
      await page.getByText('1 of 3 jobs').waitFor()
      await page.getByText('L5-L9').waitFor()
      expect(await page.getByLabel('Filter jobs by name').inputValue()).toBe(run.name)
      expect(page.url()).toBe(address)
      await expect.poll(() => readRows(page)).toMatchObject({ 5: 'row 5', 9: 'row 9' })
    }
    await looks()
    await page.reload()
    await looks()
    await page.getByRole('link', { name: 'Agents', exact: true }).first().click()
    await page.getByRole('heading', { level: 1, name: 'Agents' }).waitFor()
    await page.goBack()
    await looks()
    expect(tab.complaints).toEqual([])
  })

  it('retries once for a double click, and keeps the log of every attempt', async () => {
    const server = theServer()
    const scene = await aScene(server, { steps: 'steps: [{ label: Flaky, command: make }]' })
    const first = await scene.begin()
    await first.write('this is the first attempt\r\n')
    await first.finish(1)
    const tab = await visit()
    await signIn(tab, server, scene.page)
    const { page } = tab
    const panel = page.getByRole('region', { name: 'Job Flaky' })
    await panel.getByText('this is the first attempt').waitFor()
    await panel.getByRole('button', { name: 'Retry', exact: true }).dblclick()
    const second = await scene.begin()
    await second.write('this is the second attempt\r\n')
    await panel.getByText('this is the second attempt').waitFor()
    await second.finish(0)
    await panel.getByText('Passed').first().waitFor()
    await page.getByRole('button', { name: 'Attempt 2 of 2. Show another' }).click()
    await page.getByText('Attempt 1: Failed, exit 1').click()
    await panel.getByText('this is the first attempt').waitFor()
    expect(page.url()).toContain(first.id)
    const { body } = await server.get(`${scene.api}?include_retried_jobs=true`)
    expect(Object.values(body['jobs'] ?? {})).toHaveLength(2)
    expect(tab.complaints).toEqual([])
  })

  it('asks for the fields of a block, marks a missing one, and goes on', async () => {
    const server = theServer()
    const scene = await aScene(server, {
      steps: `steps:
  - block: "Ship it?"
    fields:
      - { text: Reason, key: reason, required: true }
      - { select: Where, key: where, options: [{ label: Europe, value: eu }, { label: America, value: us }] }
  - { label: Ship, command: make }`,
    })
    const isBlocked = async () => String((await server.get(scene.api)).body['blocked'])
    const tab = await visit()
    await signIn(tab, server, scene.page)
    const { page } = tab
    await page.getByRole('button', { name: 'Unblock…' }).click()
    const panel = page.getByRole('region', { name: 'Job Ship it?' })
    const unblock = panel.getByRole('button', { name: 'Unblock', exact: true })
    await panel.getByLabel('Where').selectOption('America')
    await unblock.click()
    const reason = panel.getByLabel('Reason')
    await reason.and(page.locator('[aria-invalid=true]')).waitFor()
    expect(await isBlocked()).toBe('true')
    await reason.fill('it is Friday')
    await unblock.click()
    await (await scene.begin()).finish(0)
    const { body } = await server.get(scene.api)
    expect(body['meta_data']).toMatchObject({ reason: 'it is Friday', where: 'us' })
    expect(tab.complaints).toEqual([])
  })

  it('shows a cancellation at once, and takes it back with the reason when it is refused', async () => {
    const server = theServer()
    const scene = await aScene(server, { steps: 'steps: [{ label: Long, command: make }]' })
    const run = await scene.begin()
    const tab = await visit()
    await signIn(tab, server, scene.page)
    const { page } = tab
    let release = () => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    await page.route('**/cancel', async (route) => {
      await held
      await route.continue()
    })
    await page.getByRole('button', { name: 'Cancel' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'Cancel this build?' })
    await dialog.getByText('1 running job will stop').waitFor()
    await dialog.getByRole('button', { name: 'Cancel the build' }).click()
    const heading = page.getByRole('main').locator('header').first()
    await heading.getByText('Canceling').waitFor()
    // The build ends before the server gets the request, so that it refuses it.
    await run.finish(0)
    release()
    const refused = await server.put(`${scene.api}/cancel`, {})
    expect(refused.status).toBe(422)
    await page.getByRole('status').getByText(String(refused.body['message'])).waitFor()
    await heading.getByText('Passed').waitFor()
    expect(tab.complaints.filter((text) => !text.includes('422'))).toEqual([])
  })
})
