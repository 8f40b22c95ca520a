// `millrace artifact` and `millrace annotation`, against the real server and against one that means harm.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { json, refusalOf } from './logged-in.ts'
import { aDirectory, eventually, millrace, theServer, type Json, type Settings } from './millrace.ts'

interface File {
  path: string
  text: string
  /** What arrives instead, at each attempt. */
  broken?: string[]
  job?: string
}

const idOf = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`

/** A server with these artifacts of build 12 of acme/web. Files are at another origin, as those in a bucket are. */
async function aServerWith(files: readonly File[]): Promise<{ settings: Settings; seen: IncomingMessage[] }> {
  const seen: IncomingMessage[] = []
  const attempts = new Map<string, number>()
  const bucket = await listen((request, response) => {
    seen.push(request)
    const path = request.url ?? ''
    const file = files[Number(path.slice(1))]
    const attempt = attempts.get(path) ?? 0
    attempts.set(path, attempt + 1)
    response.end(file?.broken?.[attempt] ?? file?.text)
  })
  const url = await listen((request, response) => {
    const [, number] = /artifacts\/00000000-0000-4000-8000-0*(\d+)\/download$/.exec(request.url ?? '') ?? []
    if (number !== undefined) {
      response.writeHead(302, { Location: `${bucket}/${number}` }).end('{}')
      return
    }
    const rows = files.map(({ path, text, job = idOf(0) }, index) => ({
      id: idOf(index),
      job_id: job,
      state: 'finished',
      path,
      file_size: Buffer.byteLength(text),
      mime_type: 'text/plain',
      sha1sum: createHash('sha1').update(text).digest('hex'),
    }))
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify(rows))
  })
  const settings = {
    XDG_CONFIG_HOME: aDirectory(),
    MILLRACE_URL: url,
    MILLRACE_TOKEN: 'secret-token',
    MILLRACE_ORG: 'acme',
  }
  return { settings, seen }
}

async function listen(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(answer)
  server.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const download = ['artifact', 'download', 'web/12', '--to', 'got']

describe('millrace artifact download', () => {
  it('writes every file whole, retries broken ones, and keeps the token from other origins', async () => {
    const files = [
      { path: 'a.txt', text: 'one' },
      { path: 'logs/deep/b.txt', text: 'two', broken: ['tw', 'twx'] },
      { path: 'empty', text: '' },
    ]
    const { settings, seen } = await aServerWith(files)
    const folder = aDirectory()
    const ended = await millrace(download, settings, { folder })
    expect(ended).toMatchObject({
      code: 0,
      stderr: '',
      stdout: `Downloaded 3 files, 6 B, into ${join(folder, 'got')}.\n`,
    })
    expect(files.map(({ path }) => readFileSync(join(folder, 'got', path), 'utf8'))).toEqual([
      'one',
      'two',
      '',
    ])
    expect(readdirSync(join(folder, 'got', 'logs', 'deep'))).toEqual(['b.txt'])
    expect(seen).toHaveLength(5)
    expect(seen.map(({ headers }) => headers.authorization)).toEqual(seen.map(() => undefined))
  })

  it('writes nothing at all if a path leaves the folder', async () => {
    const folder = aDirectory()
    for (const path of ['../out', '/etc/out', 'a/../../out', 'a//b', 'a\\..\\b', '']) {
      const { settings } = await aServerWith([
        { path: 'good', text: 'x' },
        { path, text: 'x' },
      ])
      expect(refusalOf(await millrace(download, settings, { folder }))).toContain('Nothing was downloaded')
    }
    expect(readdirSync(folder)).toEqual([])
  })

  it('follows no link on the way, and replaces one in the place of a file', async () => {
    const [folder, outside] = [aDirectory(), aDirectory()]
    mkdirSync(join(folder, 'got'))
    symlinkSync(outside, join(folder, 'got', 'logs'))
    const { settings } = await aServerWith([{ path: 'logs/a.txt', text: 'evil' }])
    expect(refusalOf(await millrace(download, settings, { folder }))).toContain('is not a folder')
    expect(readdirSync(outside)).toEqual([])

    writeFileSync(join(outside, 'kept'), 'kept')
    symlinkSync(join(outside, 'kept'), join(folder, 'got', 'a.txt'))
    const other = await aServerWith([{ path: 'a.txt', text: 'new' }])
    expect((await millrace(download, other.settings, { folder })).code).toBe(0)
    expect(readFileSync(join(folder, 'got', 'a.txt'), 'utf8')).toBe('new')
    expect(readFileSync(join(outside, 'kept'), 'utf8')).toBe('kept')
  })

  it('leaves no file that never arrives whole', async () => {
    const folder = aDirectory()
    const { settings } = await aServerWith([{ path: 'a', text: 'whole', broken: ['w', 'who', 'wrong'] }])
    expect(refusalOf(await millrace(download, settings, { folder }))).toContain(
      'a arrived incomplete 3 times',
    )
    expect(readdirSync(join(folder, 'got'))).toEqual([])
  })

  it('says that the newest of several with one path is taken, unless each job has its folder', async () => {
    const files = [
      { path: 'a', text: 'old', job: idOf(1) },
      { path: 'a', text: 'new', job: idOf(2) },
    ]
    const { settings } = await aServerWith(files)
    const folder = aDirectory()
    const ended = await millrace(download, settings, { folder })
    expect(ended.stderr).toContain('1 older artifacts have the path of a newer one')
    expect(readFileSync(join(folder, 'got', 'a'), 'utf8')).toBe('new')
    await millrace([...download, '--by-job'], settings, { folder })
    expect(readFileSync(join(folder, 'got', idOf(1), 'a'), 'utf8')).toBe('old')
    expect(existsSync(join(folder, 'got', idOf(2), 'a'))).toBe(true)
  })
})

describe('millrace artifact, millrace annotation', () => {
  it('work on a build of the real server', async () => {
    const { url, token, get, post } = theServer()
    const settings = {
      XDG_CONFIG_HOME: aDirectory(),
      MILLRACE_URL: url,
      MILLRACE_TOKEN: token,
      MILLRACE_ORG: 'default',
    }
    const org = '/v2/organizations/default'
    const configuration = `
      env: {BUILDKITE_SKIP_CHECKOUT: "true"}
      steps:
        - command: mkdir -p out/deep && echo one > out/a.txt && echo two > out/deep/b.log
          artifact_paths: "out/**/*"
    `
    const pipeline = { name: 'Client artifacts', repository: 'none', configuration }
    expect((await post(`${org}/pipelines`, pipeline)).status).toBe(201)
    const build = `${org}/pipelines/client-artifacts/builds`
    await post(build, { commit: 'HEAD', branch: 'main' })
    await eventually('the build passes', async () => {
      const { body } = await get(`${build}/1`)
      return String(body['state']) === 'passed'
    })
    const name = 'client-artifacts/1'
    expect(await json(['artifact', 'list', name, '--path', '*.txt'], settings)).toMatchObject([
      { path: 'out/a.txt', file_size: 4, state: 'finished' },
    ])
    const folder = aDirectory()
    const ended = await millrace(['artifact', 'download', name], settings, { folder })
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(readFileSync(join(folder, 'out/a.txt'), 'utf8')).toBe('one\n')
    expect(readFileSync(join(folder, 'out/deep/b.log'), 'utf8')).toBe('two\n')
    const missing = await millrace(['artifact', 'download', name, '--path', '*.xml'], settings)
    expect(refusalOf(missing)).toContain('client-artifacts/1 has no artifacts that match *.xml.')

    const annotate = ['annotation', 'create', '--build', name, '--context', 'tests']
    const created = await json([...annotate, 'All **good**', '--style', 'success'], settings)
    expect(created).toMatchObject({ context: 'tests', style: 'success', scope: 'build' })
    await json([...annotate, '--append'], settings, 'and more')
    const { body } = await get(`${build}/1/annotations`)
    const [only] = body as unknown as Json[]
    expect(String(only?.['body_html'])).toMatch(/<strong>good<\/strong>[^]*and more/)
    expect(refusalOf(await millrace(annotate, settings, { input: ' ' }))).toBe('The text is empty.\n')
  })
})
