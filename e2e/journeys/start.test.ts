import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { freePort } from '../../testbed/src/free-port.ts'
import {
  aDataDirectory,
  aDirectory,
  eventually,
  millrace,
  spawnMillrace,
  startMs,
  startServer,
  stop,
  theServer,
} from '../millrace.ts'

const sentence = /^[A-Z].*\.\n$/

describe('millrace up', () => {
  it('prints on its first start how to use it, and a curl command that works', async () => {
    const settings = { MILLRACE_DATA_DIR: join(aDirectory(), 'data'), PORT: String(await freePort()) }
    const first = spawnMillrace(['up'], settings)
    const welcome = async () => {
      const { stdout } = first.output()
      return stdout.includes('Ctrl-C') && stdout
    }
    const text = await eventually('the welcome', welcome, startMs)
    expect(text).toContain(`http://127.0.0.1:${settings.PORT}\n`)
    expect(text).toContain(`http://127.0.0.1:${settings.PORT}/docs`)
    expect(text).toMatch(/mrt_\w{40}/)
    expect(text).toMatch(/^Open http:\/\/127\.0\.0\.1:\d+\/sign-in\?code=mrsl_\w{40}$/m)
    const curl = /^ {2}(curl .*)$/m.exec(text)?.[1] ?? ''
    const { stdout } = await promisify(execFile)('sh', ['-c', `${curl} --silent --fail`])
    expect(JSON.parse(stdout)).toMatchObject([{ name: 'Default cluster' }])
    expect(first.output().stderr).toBe('')
    expect((await stop(first)).code).toBe(0)

    const second = spawnMillrace(['up'], settings)
    await eventually('the second welcome', async () => second.output().stdout.includes('Ctrl-C'), startMs)
    expect(second.output().stdout).not.toContain('mrt_')
    expect(second.output().stdout).not.toContain('mrsl_')
    expect(second.output().stdout).toContain('token create --user admin@localhost --scope all')
    expect((await stop(second)).code).toBe(0)
  })

  it('creates an organization, an administrator with all scopes, and a cluster with a default queue', async () => {
    const server = theServer()
    const { body: token } = await server.get('/v2/access-token')
    expect(token['scopes']).toContain('write_clusters')
    const { body: clusters } = await server.get('/v2/organizations/default/clusters')
    expect(clusters).toMatchObject([{ name: 'Default cluster', created_by: { name: 'Administrator' } }])
    expect(String(clusters['0']?.['default_queue_id'])).toMatch(/^[0-9a-f-]{36}$/)
    expect((await server.get('/readyz')).status).toBe(200)
  })

  it('says which process holds the data directory', async () => {
    const { settings, ...first } = theServer()
    const second = await millrace(['up'], { ...settings, PORT: new URL(first.url).port })
    expect(second).toMatchObject({ code: 1, stdout: '' })
    expect(second.stderr).toMatch(sentence)
    expect(second.stderr).toContain(`in use by process ${first.pid}:`)
    expect((await first.get('/readyz')).status).toBe(200)
  })

  it('recovers by itself after kill -9 of the whole process group', async () => {
    const settings = { MILLRACE_DATA_DIR: aDataDirectory() }
    const first = await startServer(settings)
    const { status } = await first.post('/v2/organizations/default/clusters', { name: 'kept' })
    expect(status).toBe(201)
    first.killGroup()
    await first.ended
    const second = await startServer(settings)
    const { body } = await second.get('/v2/organizations/default/clusters', first.token)
    expect(body).toMatchObject([{ name: 'Default cluster' }, { name: 'kept' }])
    expect((await stop(second)).code).toBe(0)
  })

  it('refuses a port in use before it creates anything', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const dataDir = join(aDirectory(), 'data')
    const { port } = other.address() as AddressInfo
    const refused = await millrace(['up'], { MILLRACE_DATA_DIR: dataDir, PORT: String(port) })
    other.close()
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toBe(
      `Port ${port} of 127.0.0.1 is in use by another program: stop that program, or set PORT to a free port.\n`,
    )
    expect(existsSync(dataDir)).toBe(false)
  })

  it('refuses an address this machine does not have', async () => {
    const refused = await millrace(['up'], {
      MILLRACE_DATA_DIR: join(aDirectory(), 'data'),
      HOST: '192.0.2.1',
    })
    expect(refused.code).toBe(1)
    expect(refused.stderr).toMatch(
      /^HOST 192\.0\.2\.1 cannot be listened on .*: set HOST to 127\.0\.0\.1.*\.\n$/,
    )
  })

  it('refuses a data directory it cannot write', async () => {
    // Even root cannot create a directory there.
    const refused = await millrace(['up'], { MILLRACE_DATA_DIR: '/proc/millrace', PORT: '0' })
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toMatch(sentence)
    expect(refused.stderr).toContain('set MILLRACE_DATA_DIR')
  })

  it('refuses a DATABASE_URL that does not answer, and creates nothing', async () => {
    const dataDir = join(aDirectory(), 'data')
    const refused = await millrace(['up'], {
      MILLRACE_DATA_DIR: dataDir,
      DATABASE_URL: `postgres://someone:hidden@localhost:${await freePort()}/nothing`,
      PORT: '0',
    })
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toMatch(/^DATABASE_URL does not answer \(.*ECONNREFUSED.*\): start .*\.\n$/)
    expect(refused.stderr).not.toContain('hidden')
    expect(existsSync(dataDir)).toBe(false)
  })

  it('refuses to run no role at all', async () => {
    const dataDir = join(aDirectory(), 'data')
    const refused = await millrace(['up'], { MILLRACE_DATA_DIR: dataDir, MILLRACE_ROLES: 'agent' })
    expect(refused).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'MILLRACE_ROLES leaves nothing to run: add api or worker.\n',
    })
    expect(existsSync(dataDir)).toBe(false)
  })

  it('names all wrong settings at once', async () => {
    const refused = await millrace(['up'], {
      PORT: 'http',
      MILLRACE_ROLES: 'api,cook',
      DATABASE_URL: 'mysql://db',
      MILLRACE_SECRET_KEY: 'short',
    })
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    const lines = refused.stderr.trim().split('\n')
    for (const name of ['PORT', 'MILLRACE_ROLES', 'DATABASE_URL', 'MILLRACE_SECRET_KEY']) {
      expect(lines.filter((line) => line.startsWith(name) && line.endsWith('.'))).toHaveLength(1)
    }
  })
})
