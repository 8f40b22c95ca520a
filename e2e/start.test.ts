// A start with settings of its own, and its end with its database. The first start is in journeys/start.test.ts.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ipv6Lacks, linuxLacks, needing } from '../testbed/src/needing.ts'
import { aDataDirectory, eventually, spawnMillrace, startMs, startServer, stop } from './millrace.ts'

describe('millrace up', () => {
  it('takes the first token and organization from the settings', async () => {
    const token = 'a-token-chosen-by-a-script'
    const server = await startServer({
      MILLRACE_DATA_DIR: aDataDirectory(),
      MILLRACE_ADMIN_TOKEN: token,
      MILLRACE_ORG: 'acme',
    })
    expect((await server.get('/v2/organizations/acme/clusters', token)).status).toBe(200)
  })

  needing('ipv6', ipv6Lacks).it('serves localhost at both of its addresses', async () => {
    const server = await startServer({
      MILLRACE_DATA_DIR: aDataDirectory(),
      MILLRACE_URL: 'http://localhost:0',
    })
    const { port } = new URL(server.url)
    for (const host of ['127.0.0.1', '[::1]']) {
      expect((await fetch(`http://${host}:${port}/healthz`)).status).toBe(200)
    }
    expect((await stop(server)).code).toBe(0)
  })

  it('says so and ends when its database ends', async () => {
    const dataDir = aDataDirectory()
    const server = await startServer({ MILLRACE_DATA_DIR: dataDir })
    const files = /files in (.*)$/.exec(server.database)?.[1] ?? ''
    const postmaster = Number(readFileSync(join(files, 'cluster', 'postmaster.pid'), 'utf8').split('\n')[0])
    process.kill(postmaster, 'SIGKILL')
    const { code, stderr } = await server.ended
    expect(code).toBe(1)
    expect(stderr).toMatch(/^PostgreSQL ended by itself \(SIGKILL\).*start again\.$/m)
  })

  needing('linux', linuxLacks).it(
    'chooses a port, and starts although others connect to it before it listens',
    async () => {
      const connecting: Array<Promise<Socket>> = []
      const server = await startServer({ MILLRACE_DATA_DIR: aDataDirectory() }, 'up', (args, settings) => {
        const running = spawnMillrace(args, settings)
        connecting.push(connectEarly(running.pid))
        return running
      })
      for (const socket of await Promise.all(connecting)) socket.destroy()
      expect((await stop(server)).code).toBe(0)
    },
  )
})

/** A connection to the first port that the process listens on. */
async function connectEarly(pid: number): Promise<Socket> {
  const port = await eventually('it listens', async () => portOf(pid), startMs, 20)
  return connect(port, '127.0.0.1').on('error', () => {})
}

function portOf(pid: number): number | undefined {
  const open = new Set(readdirSync(`/proc/${pid}/fd`).map((name) => linkOf(`/proc/${pid}/fd/${name}`)))
  const sockets = readFileSync(`/proc/${pid}/net/tcp`, 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
  const own = sockets.find(
    ([, , , state, , , , , , inode]) => state === '0A' && open.has(`socket:[${inode}]`),
  )
  return own === undefined ? undefined : Number.parseInt(own[1]?.split(':')[1] ?? '', 16)
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return 'closed meanwhile'
  }
}
