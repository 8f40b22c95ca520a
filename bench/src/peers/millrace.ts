import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createBuild, createPipeline } from '../build-cost/builds.ts'
import { end, firstLine, startMillrace, startWorld } from '../build-cost/world.ts'
import { fillBuilds } from '../harness/fill-builds.ts'
import type { Peer, RunningPeer, Scripts } from './peer.ts'

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  version: string
}

const steps = (command: string, more = '') => `
env: {BUILDKITE_SKIP_CHECKOUT: "true"}
steps:
  - command: ${JSON.stringify(command.replaceAll('$', '$$$$'))}
    ${more}
`

const agentCount = 2

type AgentKind = 'local agents' | 'separate agents'

/** With the agents that `millrace up` runs itself. */
export const millrace = peerOf('Millrace', 'local agents')
export const millraceSeparate = peerOf('Millrace, separate agents', 'separate agents')

function peerOf(name: string, kind: AgentKind): Peer {
  return {
    name,
    version,
    isOurs: true,
    measureStart: (folder) => measureStart(kind, folder),
    start: (folder, scripts) => startWith(kind, folder, scripts),
  }
}

const agentsOfServer = (kind: AgentKind): string => String(kind === 'local agents' ? agentCount : 0)

async function measureStart(kind: AgentKind, folder: string): Promise<number> {
  const env = { MILLRACE_DATA_DIR: join(folder, 'data'), MILLRACE_AGENTS: agentsOfServer(kind), PORT: '0' }
  let ms = 0
  // The first start makes the database.
  for (const _ of ['first', 'second']) {
    const startedAt = performance.now()
    const server = startMillrace(['up', '--json'], folder, env)
    await firstLine(server)
    ms = performance.now() - startedAt
    await end(server)
  }
  return ms
}

async function startWith(kind: AgentKind, folder: string, scripts: Scripts): Promise<RunningPeer> {
  const isLocal = kind === 'local agents'
  const world = await startWorld(false, {
    MILLRACE_AGENTS: agentsOfServer(kind),
    // The scripts read and write files there.
    MILLRACE_JOB_FOLDERS: `${dirname(folder)}:rw`,
  })
  const { api, sql } = world
  const agents = isLocal ? world.localAgents() : await world.startAgents(agentCount)
  for (const [name, command] of Object.entries(scripts)) await createPipeline(api, name, steps(command))
  const [cluster] = await api<Array<{ id: string }>>('GET', '/clusters')
  await api('POST', `/clusters/${cluster?.id}/queues`, { key: 'nobody' })
  await createPipeline(api, 'waiting', steps('true', 'agents: {queue: nobody}'))
  return {
    pids: [world.serverPid, world.databasePid, ...(isLocal ? [] : [agents.pid])],
    trigger: async (script: keyof Scripts) => void (await createBuild(api, script)),
    triggerWaiting: async () => void (await createBuild(api, 'waiting')),
    async allFinished(script) {
      const query = `select exists (select from builds b join pipelines p on p.id = b.pipeline_id
          where b.finished_at is null and p.slug = $1) as runs`
      while ((await sql.query<{ runs: boolean }>(query, [script])).rows[0]?.runs === true) await delay(100)
    },
    async fill(builds) {
      const slug = await createPipeline(api, 'filled')
      const { rows } = await sql.query<{ pipeline: string; organization: string; user: string }>(
        `select p.id as pipeline, p.organization_id as organization, (select id from users limit 1) as user
           from pipelines p where p.slug = $1`,
        [slug],
      )
      const [found] = rows
      if (found === undefined) throw new Error('The pipeline is missing.')
      const { pipeline, organization, user } = found
      const owner = { orgId: organization, slug, userId: user, token: '', clusterId: cluster?.id ?? '' }
      await fillBuilds(world.databaseUrl, owner, pipeline, { from: 0, to: builds, jobs: 1 })
    },
    list: async () => void (await api('GET', '/pipelines/filled/builds?per_page=50')),
    async stop() {
      await agents.stop()
      await world.stop()
    },
  }
}
