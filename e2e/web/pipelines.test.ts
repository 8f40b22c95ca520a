import { expect, it } from 'vitest'
import { theServer } from '../millrace.ts'
import { signIn, visit, withBrowser } from './browser.ts'
import { anOrganization } from './new-organization.ts'
import { aScene } from './scene.ts'

const steps = 'steps: [{ label: One, command: a }]'

withBrowser.describe('a pipeline', () => {
  it('takes its steps from the repository unless they are written on the page or come from a template', async () => {
    const server = theServer()
    const made = async (name: string) => {
      const { body } = await server.get(
        `/v2/organizations/default/pipelines/${name.toLowerCase().replaceAll(' ', '-')}`,
      )
      return String(body['configuration'])
    }
    const fill = async (name: string) => {
      await page.getByLabel('Name', { exact: true }).fill(name)
      await page.getByLabel('Repository', { exact: true }).fill('https://git.example.com/a.git')
    }
    const create = async () => {
      await page.getByRole('button', { name: 'Create', exact: true }).click()
      await page.waitForURL((url) => !url.pathname.endsWith('/new'))
    }
    const tab = await visit()
    const { page } = tab
    await signIn(tab, server, '/organizations/default/pipelines/new')
    const first = `From the repository ${Date.now()}`
    await fill(first)
    await create()
    expect(await made(first)).toMatch(/^steps:\n.*\n {4}command: buildkite-agent pipeline upload\n$/)

    await page.goto(`${server.url}/organizations/default/pipelines/new`)
    const second = `From the page ${Date.now()}`
    await fill(second)
    await page.getByLabel('Where the steps are').selectOption('Write the steps here')
    await page.getByRole('textbox', { name: 'Steps of the pipeline, in YAML' }).waitFor()
    await create()
    const written = await made(second)
    expect(written).toContain('block: "Deploy?"')
    expect(written).not.toMatch(/pipeline upload|make /)

    const template = await server.post('/v2/organizations/default/pipeline-templates', {
      name: `Template ${Date.now()}`,
      configuration: 'steps: [{ command: go test }]',
    })
    await page.goto(`${server.url}/organizations/default/pipelines/new`)
    const third = `From a template ${Date.now()}`
    await fill(third)
    await page.getByLabel('Where the steps are').selectOption(String(template.body['uuid']))
    await page.getByRole('region', { name: 'Steps' }).getByText('go test').waitFor()
    await create()
    expect(await made(third)).toBe('steps: [{ command: go test }]')
    expect(tab.complaints).toEqual([])
  })

  it('has templates, which are made, changed and deleted', async () => {
    const { server, slug, admin, api, url } = await anOrganization()
    const stored = async () => Object.values((await server.get(`${api}/pipeline-templates`, admin)).body)
    const tab = await visit()
    const { page } = tab
    const dialog = page.getByRole('dialog')
    await signIn(tab, { url, token: admin }, `/organizations/${slug}/settings/templates`)
    await page.getByText('No templates yet').waitFor()
    await page.getByRole('button', { name: 'New template' }).click()
    await dialog.getByLabel('Name').and(page.locator(':focus')).waitFor()
    await dialog.getByLabel('Name').fill('Go service')
    await dialog.getByLabel('Description').fill('Builds and tests')
    await dialog.getByRole('textbox', { name: 'Steps of the pipeline, in YAML' }).click()
    await page.keyboard.press('Control+End')
    await page.keyboard.type('  - command: go test')
    await dialog.getByRole('button', { name: 'Create template' }).click()
    await page.getByRole('row', { name: 'Go service' }).getByText('Everybody who makes pipelines').waitFor()
    expect(await stored()).toMatchObject([
      {
        name: 'Go service',
        description: 'Builds and tests',
        available: true,
        configuration: expect.stringMatching(/go test\s*$/),
      },
    ])

    await page.getByRole('button', { name: 'More about the template Go service' }).click()
    await page.getByRole('menuitem', { name: 'Edit…' }).click()
    await dialog.getByLabel('Everybody who makes pipelines may choose it').uncheck()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('row', { name: 'Go service' }).getByText('Administrators').waitFor()
    expect(await stored()).toMatchObject([
      { available: false, configuration: expect.stringMatching(/go test\s*$/) },
    ])

    await page.getByRole('link', { name: 'Go service' }).click()
    await page.getByRole('heading', { level: 1, name: 'Go service' }).waitFor()
    await page.getByRole('navigation', { name: 'Breadcrumb' }).getByText('Pipeline templates').click()
    await page.getByRole('button', { name: 'More about the template Go service' }).click()
    await page.getByRole('menuitem', { name: 'Delete…' }).click()
    await dialog.getByRole('button', { name: 'Delete this template' }).click()
    await page.getByText('No templates yet').waitFor()
    expect(await stored()).toEqual([])
    expect(tab.complaints).toEqual([])
  })

  it('is deleted only when its name is typed', async () => {
    const server = theServer()
    const name = 'Delete me, please'
    const scene = await aScene(server, { steps, name: `${name} ${Date.now()}` })
    const api = `/v2/organizations/default/pipelines/${scene.pipeline}`
    const whole = String((await server.get(api)).body['name'])
    const tab = await visit()
    await signIn(tab, server, `/default/${scene.pipeline}/settings/danger`)
    const { page } = tab
    await page.getByRole('button', { name: 'Delete…' }).click()
    const dialog = page.getByRole('dialog')
    const remove = dialog.getByRole('button', { name: 'Delete this pipeline' })
    expect(await remove.isDisabled()).toBe(true)
    await dialog.getByRole('textbox').fill(name)
    expect(await remove.isDisabled()).toBe(true)
    await dialog.getByRole('textbox').fill(whole)
    await remove.click()
    await page.waitForURL(`${server.url}/default`)
    await page.getByRole('status').getByText(`${whole} is deleted.`).waitFor()
    expect((await server.get(api)).status).toBe(404)
    expect(tab.complaints).toEqual([])
  })

  it("marks a mistake in its steps on the line, in the server's words", async () => {
    const server = theServer()
    const scene = await aScene(server, { steps: 'steps:\n  - command: a\n' })
    const { body } = await server.get(`/v2/organizations/default/pipelines/${scene.pipeline}`)
    const mistake = '  - comand: b'
    const refused = await server.post('/v2/organizations/default/pipelines', {
      name: `Refused ${scene.pipeline}`,
      repository: 'https://git.example.com/a.git',
      configuration: String(body['configuration']) + mistake,
    })
    expect(refused.status).toBe(422)
    const tab = await visit()
    await signIn(tab, server, `/default/${scene.pipeline}/settings/steps`)
    const { page } = tab
    await page.getByRole('textbox', { name: 'Steps of the pipeline, in YAML' }).click()
    await page.keyboard.press('Control+End')
    await page.keyboard.type(mistake)
    const problem = page.getByRole('list', { name: 'Problems' }).getByText('did you mean `command`?').first()
    await problem.waitFor()
    const words = (await problem.textContent()) ?? ''
    expect(words).not.toBe('')
    expect(JSON.stringify(refused.body)).toContain(JSON.stringify(words).slice(1, -1))
    // The lines of the editor with a mark beside them.
    const marked = () =>
      page
        .locator('.cm-gutter-lint .cm-gutterElement')
        .evaluateAll((marks) =>
          marks.flatMap((mark) =>
            mark.querySelector('.cm-lint-marker-error') === null ? [] : [mark.getBoundingClientRect().top],
          ),
        )
    const line = page.locator('.cm-line').nth(3)
    expect(await line.textContent()).toContain('comand')
    const { top } = await line.evaluate((element) => ({ top: element.getBoundingClientRect().top }))
    await expect.poll(async () => (await marked()).map((each) => Math.round(each - top))).toEqual([0])
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
    expect(tab.complaints).toEqual([])
  })
})
