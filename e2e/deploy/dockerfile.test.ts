// The rules of the Dockerfile, and the images that it makes, where this machine can build images.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { needing } from '../../testbed/src/needing.ts'
import { anEmptyDatabase } from '../databases.ts'
import { eventually, type Running } from '../millrace.ts'
import { bundlerLacks, packedFolder } from '../packed.ts'
import { readText, root, unknownSettings } from './files.ts'
import { bases, findImageTool, makeBases, type ImageTool } from './image-tool.ts'

interface Instruction {
  word: string
  rest: string
}

interface Stage {
  name: string
  instructions: Instruction[]
}

/** The instructions of each stage; those before the first FROM have the stage ''. */
function readStages(text: string): Stage[] {
  const lines = text
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll(/\\\n/g, ' ')
    .split('\n')
  const stages: Stage[] = [{ name: '', instructions: [] }]
  for (const line of lines.filter((one) => one.trim() !== '')) {
    const [, word = '', rest = ''] = /^(\w+)\s+(.*)$/.exec(line.trim()) ?? []
    if (word === 'FROM') stages.push({ name: / AS (\S+)$/.exec(rest)?.[1] ?? '', instructions: [] })
    stages.at(-1)?.instructions.push({ word, rest })
  }
  return stages
}

describe('the Dockerfile', () => {
  const text = readText('Dockerfile')
  const stages = readStages(text)
  const all = stages.flatMap(({ instructions }) => instructions)
  const last = (name: string, word: string) =>
    stages.find((stage) => stage.name === name)?.instructions.findLast((one) => one.word === word)?.rest

  it('ends with the server, and both images run as the same user without rights', () => {
    expect(stages.at(-1)?.name).toBe('server')
    for (const name of ['server', 'agent']) expect(last(name, 'USER')).toBe('10001:10001')
    expect(last('runtime', 'RUN')).toContain('millrace:x:10001:10001:')
  })

  it('starts base images of exact versions only', () => {
    const images = all.filter(({ word, rest }) => word === 'ARG' && /_IMAGE=/.test(rest))
    expect(images).toHaveLength(2)
    for (const { rest } of images) expect(rest).toMatch(/^\w+_IMAGE=[\w/]+:\d+\.\d+(\.\d+)?[\w.-]*$/)
    const known = new Set(['${NODE_IMAGE}', '${BASE_IMAGE}', 'scratch', ...stages.map(({ name }) => name)])
    const used = all.filter(({ word }) => word === 'FROM').map(({ rest }) => rest.split(' ')[0])
    expect(used.filter((name) => !known.has(name ?? ''))).toEqual([])
  })

  it('fetches nothing but packages of Debian and of package-lock.json', () => {
    expect(all.filter(({ word }) => word === 'ADD')).toEqual([])
    const commands = all.filter(({ word }) => word === 'RUN').map(({ rest }) => rest)
    expect(commands.filter((command) => /https?:|\bcurl (?!git)|\bwget\b/.test(command))).toEqual([])
    const installs = commands.filter((command) => command.includes('apt-get install'))
    for (const command of installs) {
      expect(command).toContain('--no-install-recommends')
      expect(command).toContain('rm -rf /var/lib/apt/lists/*')
    }
    expect(commands.filter((command) => /npm (ci|install)/.test(command))).toEqual([
      expect.stringContaining('--omit=optional --offline'),
    ])
  })

  it('sets settings that exist, and no secret', () => {
    expect(unknownSettings(text)).toEqual([])
    const variables = all.filter(({ word }) => word === 'ENV').flatMap(({ rest }) => rest.split(/\s+/))
    expect(variables.filter((variable) => /TOKEN|SECRET|PASSWORD|_KEY/.test(variable))).toEqual([])
  })

  it('sends the builder only what it needs', () => {
    const lines = readText('.dockerignore').split('\n')
    expect(lines).toContain('*')
    for (const path of ['**/node_modules', '**/dist']) expect(lines).toContain(path)
    for (const path of ['!.git', '!data', '!deploy', '!e2e']) expect(lines).not.toContain(path)
  })
})

const tool = await findImageTool()
const lacks = bundlerLacks ?? (typeof tool === 'string' ? tool : null)

/** The whole image has at most 250 MB. Debian's base image, which is not used here, has 80 MB of these. */
const mostBytes = (250 - 80) * 1_000_000

needing(bundlerLacks === null ? 'containers' : 'bundler', lacks).describe('the images', () => {
  let builder: ImageTool
  const server = 'localhost/millrace-test/server:1'

  beforeAll(async () => {
    if (typeof tool === 'string') throw new Error(tool)
    builder = tool()
    await makeBases(builder)
    const images = ['--build-arg', `NODE_IMAGE=${bases.node}`, '--build-arg', `BASE_IMAGE=${bases.base}`]
    const labels = ['--build-arg', 'VERSION=1.2.3', '--build-arg', 'REVISION=abcdef']
    await builder.build(server, [
      '--build-context',
      `pack=${await packedFolder()}`,
      ...images,
      ...labels,
      root,
    ])
  })

  afterAll(() => builder.remove())

  it('have labels, a user without rights, and a volume', async () => {
    const config = await builder.config(server)
    expect(config).toMatchObject({
      user: '10001:10001',
      entrypoint: ['millrace'],
      command: ['serve'],
      volumes: ['/var/lib/millrace'],
    })
    expect(config.labels).toMatchObject({
      'org.opencontainers.image.title': 'Millrace',
      'org.opencontainers.image.version': '1.2.3',
      'org.opencontainers.image.revision': 'abcdef',
    })
  })

  it('have at most 250 MB', async () => {
    const own = (await builder.bytes(server)) - (await builder.bytes(bases.base))
    expect(own).toBeGreaterThan(50_000_000)
    expect(own).toBeLessThan(mostBytes)
  })

  it('write only to the volume and to /tmp', async () => {
    const script = 'id -u; touch /var/lib/millrace/a /tmp/a && echo written; touch /a /opt/millrace/a'
    const { stdout, stderr } = await builder.start(server, ['-c', script], {}, 'sh').ended
    expect(stdout).toBe('10001\nwritten\n')
    expect(stderr.match(/Read-only file system/g)).toHaveLength(2)
  })

  it('serve, are healthy, and end at SIGTERM', async () => {
    const database = await overTcp(await anEmptyDatabase('image'))
    const token = 'a-token-chosen-by-a-script'
    const settings = {
      DATABASE_URL: database,
      MILLRACE_SECRET_KEY: 'a key of 32+ characters that all replicas share',
      MILLRACE_ADMIN_TOKEN: token,
      MILLRACE_DRAIN_SECONDS: '0',
      MILLRACE_METRICS_LISTEN: '',
      HOST: '127.0.0.1',
      PORT: '0',
    }
    const running = builder.start(server, ['serve', '--json'], settings)
    onTestFinished(() => running.signal('SIGKILL'))
    const { url } = await firstLine(running)
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
    const answer = await fetch(`${url}/v2/organizations/default/clusters`, {
      headers: { Authorization: `Bearer ${token}` },
    })
    expect(await answer.json()).toMatchObject([{ name: 'Default cluster' }])

    const [kind, program = '', ...args] = (await builder.config(server)).healthcheck
    expect(kind).toBe('CMD')
    const port = new URL(url).port
    const check = (listen: string) =>
      builder.start(server, args, { MILLRACE_METRICS_LISTEN: listen }, program).ended
    expect((await check(`127.0.0.1:${port}`)).code).toBe(0)
    running.signal('SIGTERM')
    expect((await running.ended).code).toBe(0)
    expect((await check(`127.0.0.1:${port}`)).code).toBe(1)
  })

  it('migrate and work in the background', async () => {
    const settings = {
      DATABASE_URL: await overTcp(await anEmptyDatabase('image_worker')),
      MILLRACE_SECRET_KEY: 'a key of 32+ characters that all replicas share',
      MILLRACE_METRICS_LISTEN: '127.0.0.1:0',
    }
    const migrated = await builder.start(server, ['migrate', '--json'], settings).ended
    expect(migrated).toMatchObject({ code: 0, stdout: expect.stringContaining('"applied":[') })
    const worker = builder.start(server, ['worker', '--json'], settings)
    onTestFinished(() => worker.signal('SIGKILL'))
    await firstLine(worker)
    worker.signal('SIGTERM')
    expect((await worker.ended).code).toBe(0)
  })
})

async function firstLine(running: Running): Promise<{ url: string }> {
  let end: string | null = null
  void running.ended.then(({ stderr }) => (end = stderr))
  const line = await eventually('it says that it runs', async () => {
    if (end !== null) throw new Error(`It ended: ${end}`)
    return running
      .output()
      .stdout.split('\n')
      .find((one) => one.startsWith('{'))
  })
  return JSON.parse(line) as { url: string }
}

/** The same database by TCP, because containers cannot reach the socket in a private directory. */
async function overTcp(address: string): Promise<string> {
  const parameters = new URLSearchParams(address.slice(address.indexOf('?')))
  const path = `${parameters.get('host')}/.s.PGSQL.${parameters.get('port')}`
  const proxy = createServer((client) => {
    const upstream = connect(path)
    client.on('error', () => upstream.destroy()).on('close', () => upstream.destroy())
    upstream.on('error', () => client.destroy()).on('close', () => client.destroy())
    client.pipe(upstream).pipe(client)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  onTestFinished(() => void proxy.close())
  const { port } = proxy.address() as AddressInfo
  const name = /^postgresql:\/\/\/(\w+)/.exec(address)?.[1]
  return `postgresql://${parameters.get('user')}:${parameters.get('password')}@127.0.0.1:${port}/${name}`
}
