// compose.yml: what it says, and, where an engine is at hand, a build on what it starts.
import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { needing } from '../../testbed/src/needing.ts'
import { aDirectory, clientOf, eventually } from '../millrace.ts'
import { readText, root, unknownSettings } from './files.ts'
import { toolLacks } from './image-tool.ts'

interface Service {
  image: string
  restart: string
  read_only: boolean
  cap_drop: string[]
  security_opt: string[]
  ports?: string[]
  networks: string[]
  environment: Record<string, string>
  healthcheck?: { test: string[] }
  depends_on?: Record<string, { condition: string }>
  volumes: string[]
}

const text = readText('deploy/compose.yml')
const { services, networks, volumes } = parse(text, { merge: true }) as {
  services: Record<string, Service>
  networks: Record<string, { internal?: boolean } | null>
  volumes: Record<string, null>
}

/** The variables of a file like .env. */
const readVariables = (lines: string): Record<string, string> =>
  Object.fromEntries(
    lines.split('\n').flatMap((line) => {
      const [, name = '', value = ''] = /^(\w+)=(.*)$/.exec(line) ?? []
      return name === '' ? [] : [[name, value]]
    }),
  )

function makeEnv(settings: Record<string, string> = {}): {
  folder: string
  variables: Record<string, string>
} {
  const folder = aDirectory()
  copyFileSync(join(root, 'deploy/make-env.sh'), join(folder, 'make-env.sh'))
  execFileSync('sh', [join(folder, 'make-env.sh')], { env: { PATH: process.env['PATH'], ...settings } })
  return { folder, variables: readVariables(readFileSync(join(folder, '.env'), 'utf8')) }
}

describe('compose.yml', () => {
  it('has a server, a database, a store and an agent, each restarted and without rights', () => {
    expect(Object.keys(services)).toEqual(['server', 'agent', 'postgres', 'garage'])
    for (const service of Object.values(services))
      expect(service).toMatchObject({
        restart: 'unless-stopped',
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
      })
  })

  it('names exact versions of images', () => {
    for (const { image } of Object.values(services))
      expect(image).toMatch(/^\$\{IMAGE_[A-Z]+:-[\w/-]+:v?\d+\.\d+(\.\d+)?(-\w+)?\}$/)
    const { version } = JSON.parse(readText('package.json')) as { version: string }
    for (const name of ['server', 'agent']) expect(services[name]?.image).toContain(`:${version}}`)
  })

  it('publishes only the server, and keeps the agent from the database and the store', () => {
    expect(Object.keys(services).filter((name) => services[name]?.ports !== undefined)).toEqual(['server'])
    expect(networks['data']).toEqual({ internal: true })
    expect(services['postgres']?.networks).toEqual(['data'])
    expect(services['garage']?.networks).toEqual(['data'])
    expect(services['agent']?.networks).not.toContain('data')
    expect(services['server']?.networks).toContain('data')
  })

  it('waits for what a service needs', () => {
    const conditions = Object.values(services).flatMap(({ depends_on: needed = {} }) =>
      Object.entries(needed),
    )
    for (const [name, { condition }] of conditions) {
      expect(condition).toBe('service_healthy')
      expect(services[name]?.healthcheck?.test[0]).toBe('CMD')
    }
    expect(conditions.map(([name]) => name).sort()).toEqual(['garage', 'postgres', 'server'])
  })

  it('names settings and volumes that exist', () => {
    expect(unknownSettings(text)).toEqual([])
    const named = Object.values(services).flatMap((service) =>
      service.volumes.map((one) => one.split(':')[0] ?? ''),
    )
    expect(named.filter((name) => !name.startsWith('./')).sort()).toEqual(Object.keys(volumes).sort())
  })

  it('gets every secret from .env, which make-env.sh writes and .env.example explains', () => {
    const wanted = new Set([...text.matchAll(/\$\{(\w+):\?/g)].map(([, name = '']) => name))
    const { folder, variables } = makeEnv()
    const example = readVariables(readText('deploy/.env.example'))
    expect(Object.keys(variables)).toEqual(Object.keys(example))
    for (const name of wanted) expect(variables[name]).not.toBe('')
    expect(statSync(join(folder, '.env')).mode & 0o077).toBe(0)
    expect(variables['S3_ACCESS_KEY']).toMatch(/^GK[0-9a-f]{24}$/)
    expect(variables['S3_SECRET_KEY']).toMatch(/^[0-9a-f]{64}$/)
    expect(variables['GARAGE_RPC_SECRET']).toMatch(/^[0-9a-f]{64}$/)
    expect(variables['MILLRACE_SECRET_KEY']?.length).toBeGreaterThanOrEqual(32)
    const secrets = Object.entries(variables).filter(([name]) => /KEY|TOKEN|SECRET|PASSWORD/.test(name))
    expect(new Set(secrets.map(([, value]) => value)).size).toBe(7)
    // The secrets belong to the data, so they are never replaced.
    const again = spawnSync('sh', [join(folder, 'make-env.sh')], { encoding: 'utf8' })
    expect(again).toMatchObject({ status: 1, stderr: expect.stringContaining('keep it') })
  })
})

async function composeLacks(): Promise<string | null> {
  const reason = await toolLacks('docker')
  if (reason !== null) return `docker: ${reason}`
  return spawnSync('docker', ['compose', 'version']).status === 0 ? null : 'docker has no compose'
}

/** The images are built on images of a registry, of packages of Debian and npm. */
function internetLacks(): string | null {
  const file = readText('Dockerfile')
  const image = (name: string) => new RegExp(`^ARG ${name}=(.*)$`, 'm').exec(file)?.[1] ?? ''
  for (const command of [
    [image('BASE_IMAGE'), 'apt-get', 'update'],
    [image('NODE_IMAGE'), 'npm', 'ping'],
  ]) {
    const tried = spawnSync('docker', ['run', '--rm', ...command], { encoding: 'utf8', timeout: probeMs })
    if (tried.status !== 0) return `${command.join(' ')}: ${tried.error?.message ?? tried.stderr.trim()}`
  }
  return null
}

const probeMs = 300_000
const lacks = await composeLacks()
const withImages = lacks === null ? needing('internet', internetLacks()) : needing('containers', lacks)

withImages.describe('docker compose up', () => {
  it('runs a build', { timeout: 1_800_000 }, async () => {
    const project = `millrace-test-${process.pid}`
    const { folder, variables } = makeEnv({ PUBLISH: '127.0.0.1:0' })
    const files = ['--project-name', project, '--env-file', join(folder, '.env')]
    const compose = (...args: string[]) =>
      execFileSync('docker', ['compose', '--file', join(root, 'deploy/compose.yml'), ...files, ...args], {
        encoding: 'utf8',
        stdio: 'pipe',
        maxBuffer: 2 ** 26,
      })
    onTestFinished(() => void compose('down', '--volumes', '--timeout', '1'))
    compose('up', '--detach', '--build', '--wait')
    const url = `http://${compose('port', 'server', '3000').trim()}`
    const server = clientOf({ url, token: variables['MILLRACE_ADMIN_TOKEN'] ?? '', database: '' })
    const builds = '/v2/organizations/default/pipelines/demo/builds'
    expect((await server.post(builds, { commit: 'HEAD', branch: 'main' })).status).toBe(201)
    const build = await eventually('the build ends', async () => {
      const { body } = await server.get(`${builds}/1`)
      return (body['finished_at'] as unknown) !== null && body
    })
    expect(build['state']).toBe('passed')
    expect(compose('logs', 'server')).not.toContain(variables['MILLRACE_ADMIN_TOKEN'])
  })
})
