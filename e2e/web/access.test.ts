import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { millrace, theServer } from '../millrace.ts'
import { signIn, visit, withBrowser } from './browser.ts'
import { aScene } from './scene.ts'

const script = '<img src=x onerror=document.title="owned"><script>document.title="owned"</script>'
const steps = 'steps: [{ label: One, command: a }]'

async function run(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await millrace([...args, '--json'], theServer().settings)
  if (code !== 0) throw new Error(stderr)
  return stdout
}

/** What needs more than reading. */
const refused =
  /^(New (?:build|schedule)|Run now|Settings|Rebuild|Cancel\b|Retry|Unblock|Pause|Start an agent|Delete|Archive)/

/** What the page knows by now is drawn afterwards. */
const twoFrames = (page: Page) =>
  page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))

/** Waits until a page shows the text. */
async function seen(page: Page, path: string, text: string): Promise<void> {
  const shown = page.getByRole('main').getByText(text).filter({ visible: true }).first()
  await shown.waitFor().catch(() => {
    throw new Error(`${path} does not show ${text}`)
  })
}

/** Returns the token of a new member. */
async function aMember(slug: string, role: 'admin' | 'member'): Promise<string> {
  const email = `${role}@${slug}.example`
  await run('user', 'create', '--email', email, '--name', role, '--org', slug, '--role', role)
  const created = await run('token', 'create', '--user', email, '--scope', 'all')
  return (JSON.parse(created) as { token: string }).token
}

withBrowser.describe('access', () => {
  it('offers nothing that would be refused, and explains an address that somebody pasted', async () => {
    const server = theServer()
    const slug = `readers-${process.pid}`
    const api = `/v2/organizations/${slug}`
    await run('org', 'create', slug, '--name', 'Readers')
    const admin = await aMember(slug, 'admin')
    const member = await aMember(slug, 'member')
    await server.post(`${api}/teams/enable`, {}, admin)
    const everyone = (await server.get(`${api}/teams`, admin)).body['0']?.['id']
    const cluster = await server.post(`${api}/clusters`, { name: 'Machines' }, admin)
    const clusterApi = `${api}/clusters/${cluster.body['id']}`
    const queue = await server.post(`${clusterApi}/queues`, { key: 'default' }, admin)
    const pipeline = {
      name: 'Shown',
      repository: 'https://git.example.com/a.git',
      configuration: steps,
      teams: { [String(everyone)]: 'read_only' },
      cluster_id: cluster.body['id'],
    }
    expect(await server.post(`${api}/pipelines`, pipeline, admin)).toMatchObject({ status: 201 })
    const builds = `${api}/pipelines/shown/builds`
    await server.post(builds, { commit: 'HEAD', branch: 'main' }, admin)

    const clusterPage = `/organizations/${slug}/clusters/${cluster.body['id']}`
    const shown = `${api}/pipelines/shown`
    await server.post(`${shown}/schedules`, { label: 'Nightly', cronline: '@daily' }, admin)
    const pages = [
      { path: `/${slug}/shown`, text: '#1', rights: shown, offered: 'New build' },
      { path: `/${slug}/shown/settings/schedules`, text: 'Nightly', rights: shown, offered: 'New schedule' },
      { path: `/${slug}/shown/builds/1`, text: 'One', rights: shown, offered: 'Cancel' },
      {
        path: `${clusterPage}/queues/${queue.body['id']}`,
        text: 'Waiting jobs',
        rights: clusterApi,
        offered: 'Pause dispatch…',
      },
    ]
    const administrator = await visit()
    await signIn(administrator, { url: server.url, token: admin }, `/${slug}`)
    const tab = await visit()
    const { page } = tab
    await signIn(tab, { url: server.url, token: member }, `/${slug}`)
    for (const { path, text, rights, offered } of pages) {
      await administrator.page.goto(server.url + path)
      await administrator.page.getByRole('button', { name: offered }).first().waitFor()
      const answered = page.waitForResponse(
        (answer) => new URL(answer.url()).pathname === rights && answer.url().includes('include_viewer=true'),
      )
      await page.goto(server.url + path)
      await (await answered).finished()
      await seen(page, path, text)
      await twoFrames(page)
      const main = page.getByRole('main')
      const names = await main.getByRole('button').or(main.getByRole('link')).allInnerTexts()
      expect([path, names.filter((name) => refused.test(name.trim()))]).toEqual([path, []])
    }
    const tries = [
      await server.post(builds, { commit: 'HEAD', branch: 'main' }, member),
      await server.put(`${builds}/1/cancel`, {}, member),
      await server.post(`${clusterApi}/queues/${queue.body['id']}/pause_dispatch`, {}, member),
    ]
    expect(tries.map(({ status }) => status)).toEqual([403, 403, 403])
    await page.goto(`${server.url}/${slug}/shown/settings/danger`)
    await page.getByText('You may not change this pipeline.').waitFor()
    await page.getByText('needs the right to manage it').waitFor()
    await page.getByText('An administrator of the organization gives it').waitFor()
    expect(await page.getByRole('button', { name: 'Delete…' }).count()).toBe(0)
    const created = await server.post(`${api}/pipelines`, { ...pipeline, name: 'Mine' }, member)
    expect(created.status).toBe(403)
    await page.goto(`${server.url}/organizations/${slug}/pipelines/new`)
    await page.getByText('You may not create pipelines here.').waitFor()
    expect(await page.getByRole('textbox').count()).toBe(0)
  })

  it('runs no script of a log, a message, a branch, a step, an annotation, an artifact, an agent or YAML', async () => {
    const server = theServer()
    const scene = await aScene(server, {
      name: `Hostile ${script}`,
      message: script,
      branch: '<script>document.title="owned"</script>',
      agentName: script,
      steps: `# ${script}\nsteps: [{ label: '${script}', command: '${script}' }]`,
    })
    const run = await scene.begin()
    await run.write(
      `+++ ${script}\r\n${script}\r\n\x1b]8;;javascript:document.title="owned"\x07a link\x1b]8;;\x07\r\n`,
    )
    await run.call('POST', `jobs/${run.id}/annotations`, {
      body: `${script} <a href="javascript:document.title='owned'">annotated</a> <svg onload=document.title="owned">`,
      context: script,
    })
    await run.call('POST', `jobs/${run.id}/artifacts`, {
      id: randomUUID(),
      upload_destination: '',
      artifacts: [
        {
          path: `${script}.txt`,
          absolute_path: '/builds/a.txt',
          glob_path: '*',
          file_size: 1,
          sha1sum: '86f7e437faa5a7fce15d1ddcb9eaeaea377667b8',
          sha256sum: 'ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb',
          content_type: 'text/plain',
        },
      ],
    })
    const { body } = await server.get(`${scene.api}/jobs/${run.id}`)
    const agent = new URL(String(body['agent']?.['web_url'])).pathname
    const tab = await visit()
    const { page } = tab
    await signIn(tab, server, `/default?q=Hostile`)
    const job = `${scene.page}#${run.id}`
    const shown: ReadonlyArray<[path: string, text: string]> = [
      ['/default?q=Hostile', '<img'],
      ['/organizations/default/builds', '<img'],
      [`/default/${scene.pipeline}`, '<img'],
      [`/default/${scene.pipeline}/settings/steps`, '<img'],
      [job, '<img'],
      [job, 'a link'],
      [job.replace('#', '?view=graph#'), '<img'],
      [job.replace('#', '?view=table#'), '<img'],
      [job.replace('#', '?view=waterfall#'), '<img'],
      [`${scene.page}?tab=annotations`, 'annotated'],
      [`${scene.page}?tab=artifacts`, '<img'],
      [agent, '<img'],
      ['/organizations/default/agents', '<img'],
    ]
    for (const [path, text] of shown) {
      await page.goto(server.url + path)
      await seen(page, path, text)
      const harm = await page.evaluate(() => ({
        title: document.title,
        elements: document.querySelectorAll(
          'main script, main [onerror], main [onload], main [href^=javascript]',
        ).length,
      }))
      expect([path, harm.elements, harm.title.startsWith('owned')]).toEqual([path, 0, false])
      expect([path, tab.complaints.splice(0)]).toEqual([path, []])
    }
  })

  it('lets no form of another origin cancel a build', async () => {
    const server = theServer()
    const scene = await aScene(server, { steps })
    await scene.begin()
    const target = `${server.url}${scene.api}/cancel`
    const evil = createServer((_, response) => {
      response.setHeader('Content-Type', 'text/html')
      response.end(
        `<form method=post action="${target}"><input name=_method value=put><button>Win a prize</button></form>`,
      )
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void evil.close())
    await once(evil, 'listening')
    const tab = await visit()
    const { page } = tab
    await signIn(tab, server, scene.page)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.goto(`http://127.0.0.1:${(evil.address() as AddressInfo).port}/`)
    const answers: number[] = []
    page.on('response', (response) => void (response.url() === target && answers.push(response.status())))
    await page.getByRole('button', { name: 'Win a prize' }).click()
    await page.waitForURL(target)
    expect(answers).toHaveLength(1)
    expect(answers[0]).toBeGreaterThanOrEqual(400)
    await page.goBack()
    const sent = await page.evaluate(async (url) => {
      const tries: RequestInit[] = [
        { method: 'PUT', credentials: 'include' },
        { method: 'PUT', credentials: 'include', headers: { 'X-Millrace-Page': '1' } },
        { method: 'POST', mode: 'no-cors', credentials: 'include' },
      ]
      const outcomes = await Promise.all(
        tries.map((init) =>
          fetch(url, init).then(
            ({ type }) => type,
            () => 'refused',
          ),
        ),
      )
      return outcomes
    }, target)
    expect(sent).toEqual(['refused', 'refused', 'opaque'])
    expect(String((await server.get(scene.api)).body['state'])).toBe('running')
  })
})
