// The configurations of nginx and Caddy, with the real programs in front of a real server: TLS, streams without delay,
// large uploads, and the address of the caller.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { freePort } from '../../testbed/src/free-port.ts'
import {
  aDataDirectory,
  aDirectory,
  aSharedDirectory,
  eventually,
  launch,
  spawnMillrace,
  startServer,
  type Running,
} from '../millrace.ts'
import { certificate, key } from './certificate.ts'
import { findProgram, readText, unknownSettings, withProgram } from './files.ts'

interface Proxy {
  name: string
  file: string
  program: string | null
  /** Starts it between the ports. `trusted` is the file of the certificate that clients have to trust. */
  start(
    program: string,
    folder: string,
    ports: { https: number; http: number; server: number },
  ): Promise<{ trusted: string; running: Running }>
}

const proxies: Proxy[] = [
  {
    name: 'nginx',
    file: 'deploy/nginx/millrace.conf',
    program: findProgram('nginx', ['/usr/sbin', '/usr/local/sbin']),
    async start(program, folder, { https, http, server }) {
      const trusted = join(folder, 'ci.example.com.crt')
      writeFileSync(trusted, certificate)
      writeFileSync(join(folder, 'ci.example.com.key'), key)
      const site = readText('deploy/nginx/millrace.conf')
        .replaceAll('/etc/nginx/tls', folder)
        .replaceAll('127.0.0.1:3000', `127.0.0.1:${server}`)
        .replace(/^ *listen 443/m, `listen 127.0.0.1:${https}`)
        .replace('listen 80;', `listen 127.0.0.1:${http};`)
        .replaceAll(/^ *listen \[.*\n/gm, '')
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      const paths = temporary.map((kind) => `${kind}_temp_path ${folder}/${kind};`).join(' ')
      const user = process.getuid?.() === 0 ? 'user root;' : ''
      const main = `${user} daemon off; pid ${folder}/pid; error_log stderr; events {} http { access_log off; ${paths}\n${site} }`
      writeFileSync(join(folder, 'nginx.conf'), main)
      const running = keep(
        launch(program, ['-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')], {}),
      )
      return { trusted, running }
    },
  },
  {
    name: 'Caddy',
    file: 'deploy/caddy/Caddyfile',
    program: findProgram('caddy'),
    async start(program, folder, { https, http, server }) {
      const options = `{\nadmin off\npersist_config off\nskip_install_trust\nhttp_port ${http}\nhttps_port ${https}\n}`
      writeFileSync(join(folder, 'Caddyfile'), `${options}\nimport ${join(folder, 'site')}\n`)
      writeFileSync(join(folder, 'site'), readText('deploy/caddy/Caddyfile'))
      const args = ['run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile']
      // For localhost Caddy makes a certificate of its own.
      const settings = {
        DOMAIN: 'localhost',
        UPSTREAMS: `127.0.0.1:${server}`,
        XDG_DATA_HOME: folder,
        HOME: folder,
      }
      const running = keep(launch(program, args, settings))
      const trusted = join(folder, 'caddy/pki/authorities/local/root.crt')
      await eventually(
        'Caddy has a certificate',
        async () => existsSync(trusted) && readFileSync(trusted).length > 0,
      )
      return { trusted, running }
    },
  },
]

/** Stops it after the test. */
function keep(running: Running): Running {
  onTestFinished(async () => {
    running.signal('SIGTERM')
    await running.ended
  })
  return running
}

interface Answer {
  status: number
  body: string
  headers: Record<string, string | string[] | undefined>
}

const token = 'a-token-chosen-by-a-script'
const agentToken = 'a-token-chosen-for-agents'

/** A server behind the proxy, whose address is the proxy's. */
async function startBehind(proxy: Proxy) {
  const [https, http, port] = [await freePort(), await freePort(), await freePort()]
  const url = `https://localhost:${https}`
  const server = await startServer({
    MILLRACE_DATA_DIR: aDataDirectory(),
    MILLRACE_URL: url,
    MILLRACE_TRUSTED_PROXIES: '127.0.0.1',
    MILLRACE_ADMIN_TOKEN: token,
    MILLRACE_AGENT_TOKEN: agentToken,
    MILLRACE_AGENTS: '0',
    MILLRACE_LOG_LEVEL: 'info',
    PORT: String(port),
  })
  const { trusted, running } = await proxy.start(proxy.program ?? '', aDirectory(), {
    https,
    http,
    server: port,
  })
  const open = (method: string, path: string, headers: Record<string, string> = {}) =>
    request(url + path, {
      method,
      ca: readFileSync(trusted),
      agent: false,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', ...headers },
    })
  const ask = (method: string, path: string, body?: object, headers?: Record<string, string>) =>
    new Promise<Answer>((resolve, reject) => {
      const asked = open(method, path, headers)
      asked.on('error', reject)
      asked.on('response', (response) => {
        let text = ''
        response.on('data', (piece: Buffer) => (text += piece.toString()))
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, body: text, headers: response.headers }),
        )
      })
      asked.end(body === undefined ? undefined : JSON.stringify(body))
    })
  let end: string | null = null
  void running.ended.then(({ stderr }) => (end = stderr))
  await eventually(`${proxy.name} passes requests on`, async () => {
    if (end !== null) throw new Error(`${proxy.name} ended: ${end}`)
    const answer = await ask('GET', '/readyz').catch(() => null)
    return answer?.status === 200
  })
  return { server, url, trusted, http, open, ask }
}

const organization = '/v2/organizations/default'

describe.each(proxies)('$name', (proxy) => {
  it('has a configuration that names settings that exist', () => {
    expect(unknownSettings(readText(proxy.file))).toEqual([])
  })

  withProgram(proxy.program, proxy.name).describe('in front of a server', () => {
    it('sends events on while their stream is open, and hides the metrics', async () => {
      const { open, ask, server, http, url } = await startBehind(proxy)
      expect(await ask('GET', '/metrics')).toMatchObject({ status: 404 })
      const redirected = await fetch(`http://localhost:${http}/sign-in`, { redirect: 'manual' })
      expect([301, 308]).toContain(redirected.status)
      expect(redirected.headers.get('location')).toMatch(/^https:\/\/localhost/)
      const home = await ask('GET', '/readyz')
      expect(home.headers['strict-transport-security']).toContain('max-age')

      const stream = open('GET', `${organization}/events`)
      let received = ''
      let isOver = false
      stream.on('response', (response) => {
        response.on('data', (piece: Buffer) => (received += piece.toString()))
        response.on('end', () => (isOver = true))
        response.on('error', () => (isOver = true))
      })
      stream.on('error', () => (isOver = true))
      stream.end()
      await eventually('the stream begins', async () => received !== '')
      const before = received.length
      const build = { commit: 'HEAD', branch: 'main', message: 'Seen at once' }
      const created = await ask('POST', `${organization}/pipelines/demo/builds`, build)
      expect(created.status).toBe(201)
      expect((JSON.parse(created.body) as { web_url: string }).web_url.startsWith(url)).toBe(true)
      await eventually('the event arrives', async () => received.slice(before).includes('data:'))
      expect(isOver).toBe(false)
      stream.destroy()

      // A caller cannot choose the address that the server sees.
      const spoofed = { 'X-Forwarded-For': '203.0.113.9', 'X-Request-Id': 'from-nowhere' }
      expect((await ask('GET', organization, undefined, spoofed)).status).toBe(200)
      const line = await eventually('the request is in the log', async () =>
        server
          .output()
          .stderr.split('\n')
          .find((one) => one.includes('from-nowhere')),
      )
      expect((JSON.parse(line) as { ip: string }).ip).toBe('127.0.0.1')
    })

    it('passes the stream of an agent, its log and an artifact of 20 MiB', async () => {
      const { ask, url, trusted } = await startBehind(proxy)
      const agent = spawnMillrace(['agent', 'start', '--ping-mode', 'stream-only'], {
        MILLRACE_AGENT_TOKEN: agentToken,
        MILLRACE_AGENT_ENDPOINT: `${url}/v3`,
        MILLRACE_AGENT_BUILD_PATH: aSharedDirectory(),
        NODE_EXTRA_CA_CERTS: trusted,
      })
      await eventually('the agent is connected', async () => agent.output().stdout.includes('is connected'))
      const command =
        'head -c 20971520 /dev/zero > large; sha1sum large; buildkite-agent artifact upload large'
      const pipeline = {
        name: 'Large',
        repository: 'none',
        configuration: JSON.stringify({ steps: [{ command }] }),
      }
      expect((await ask('POST', `${organization}/pipelines`, pipeline)).status).toBe(201)
      const builds = `${organization}/pipelines/large/builds`
      const env = { BUILDKITE_SKIP_CHECKOUT: 'true' }
      expect((await ask('POST', builds, { commit: 'HEAD', branch: 'main', env })).status).toBe(201)
      const build = await eventually('the build ends', async () => {
        const found = JSON.parse((await ask('GET', `${builds}/1`)).body) as Build
        return found.finished_at !== null && found
      })
      const { body: log } = await ask('GET', `${builds}/1/jobs/${build.jobs[0]?.id}/log.txt`)
      expect({ state: build.state, log }).toMatchObject({ state: 'passed' })
      const { body } = await ask('GET', `${builds}/1/artifacts`)
      expect(JSON.parse(body)).toMatchObject([{ path: 'large', file_size: 20_971_520, state: 'finished' }])
      const [artifact] = JSON.parse(body) as { sha1sum: string }[]
      expect(log).toContain(artifact?.sha1sum)
      agent.signal('SIGTERM')
      expect((await agent.ended).code).toBe(0)
    })
  })
})

interface Build {
  state: string
  finished_at: string | null
  jobs: { id: string }[]
}
