// Hosted clusters in tests: an in-memory engine whose containers run an agent that talks to the server over HTTP and runs
// commands with the engine's built-in programs.
import { afterAll } from 'vitest'
import { runnerCommand } from '../../src/hosted-agents/container.ts'
import { runHostedAgents } from '../../src/hosted-agents/control-loop.ts'
import type { RunningTasks } from '../../src/tasks/run.ts'
import { anAgent, type TestRun } from '../agent-client.ts'
import { eventually, type Json, type TestApp, useOwnApp } from '../app.ts'
import {
  aCluster,
  anAdmin,
  anOrganization,
  aPipeline,
  type TestOrganization,
  type TestUser,
} from '../builders.ts'
import { MemoryEngine, type Process } from './memory-engine.ts'
import { aBuild, buildState, type TestBuild } from '../runs.ts'

const hostedEnv = {
  MILLRACE_HOSTED: 'docker:///nowhere/engine.sock',
  MILLRACE_HOSTED_BASE_IMAGE: 'base:1',
  MILLRACE_HOSTED_WARM_AGENTS: '0',
  MILLRACE_PING_HOLD_SECONDS: '1',
}

/** Containers, agents and builds are slow on a busy machine. */
export const patienceMs = 300_000

export const inTime = <T>(what: string, check: () => Promise<T | undefined | false>): Promise<T> =>
  eventually(what, check, patienceMs)

interface HostedApp {
  app: TestApp
  engine: MemoryEngine
  /** Replacements of commands, by the command's first word. */
  commands: Record<string, (run: TestRun, process: Process) => Promise<number>>
}

/** A server with an engine; `host` starts the control loop of hosted agents. */
export function useHosted(env: Record<string, string> = {}): HostedApp & { host(): Promise<RunningTasks> } {
  const engine = new MemoryEngine()
  const app = useOwnApp({ env: { ...hostedEnv, ...env }, hosted: engine.open('hosted') })
  const commands: HostedApp['commands'] = {}
  engine.programs[runnerCommand] = (process) => runAgent({ app, engine, commands }, process)
  const running: RunningTasks[] = []
  afterAll(async () => {
    for (const loop of running) await loop.stop()
  })
  return {
    app,
    engine,
    commands,
    async host() {
      const loop = await runHostedAgents(app.ctx, app.database.pool)
      running.push(loop)
      return loop
    },
  }
}

/** Runs until its job has ended, or the container is stopped. */
async function runAgent({ app, engine, commands }: HostedApp, process: Process): Promise<number> {
  if (process.arguments[0] === 'mirror') return mirror(process)
  const { MILLRACE_RUNNER_TOKEN: token = '', MILLRACE_RUNNER_TAGS: tags = '' } = process.environment
  const agent = await anAgent(app, token, { tags: tags.split(','), name: 'hosted' })
  let jobId: string | null = null
  while (jobId === null) {
    if (process.signal.aborted) return 137
    jobId = await agent.offered().catch(() => null)
  }
  const run = await agent.accept(jobId)
  await run.start()
  const command = run.env['BUILDKITE_COMMAND'] ?? ''
  const [word = '', ...rest] = command
    .replaceAll('$CACHE', process.environment['MILLRACE_RUNNER_CACHE'] ?? '/none')
    .split(' ')
  const other = commands[word]
  const program = engine.programs[word]
  const status =
    other === undefined
      ? ((await program?.({ ...process, arguments: rest })) ?? 127)
      : await other(run, process)
  if (process.signal.aborted) return 137
  await run.finish(status)
  await agent.call('POST', 'disconnect')
  return 0
}

async function mirror({ environment, writeFile }: Process): Promise<number> {
  const { MILLRACE_RUNNER_MIRRORS: mirrors, MILLRACE_RUNNER_REPOSITORY: repository = '' } = environment
  if (repository.includes('private')) return 128
  return writeFile(`${mirrors}/mirror`, repository) ? 0 : 1
}

export interface HostedWorld {
  org: TestOrganization
  admin: TestUser
  cluster: { id: string; name: string; path: string }
  queue: { id: string; path: string }
  volumes: string
}

/** A hosted cluster whose default queue is hosted. */
export async function aHostedWorld(app: TestApp, shape = linux2x4): Promise<HostedWorld> {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  const cluster = await aCluster(app, org, admin, { hosted: true })
  const made = await app.request('POST', `${cluster.path}/queues`, {
    token: admin.token,
    body: { key: 'default', hostedAgents: { instanceShape: shape } },
  })
  if (made.status !== 201) throw new Error(made.text)
  const id = String(made.body.id)
  await app.request('PUT', cluster.path, { token: admin.token, body: { default_queue_id: id } })
  const path = `${cluster.path}/queues/${id}`
  return { org, admin, cluster, queue: { id, path }, volumes: `${cluster.path}/cache_volumes` }
}

const architecture = process.arch === 'arm64' ? 'ARM64' : 'AMD64'
export const linux2x4 = `LINUX_${architecture}_2X4`

export async function aHostedPipeline(
  app: TestApp,
  world: HostedWorld,
  steps: string,
): Promise<{ id: string; slug: string; path: string }> {
  return aPipeline(app, world.org, `steps: ${steps}`, { cluster_id: world.cluster.id })
}

/** Runs a build of the pipeline to its end, and returns its state. */
export async function runBuild(
  app: TestApp,
  world: HostedWorld,
  pipeline: { id: string; slug: string; path: string },
  given: Parameters<typeof aBuild>[3] = {},
): Promise<string> {
  const build = await aBuild(app, world.org, pipeline, given)
  return untilEnded(app, build)
}

export const untilEnded = (app: TestApp, build: TestBuild): Promise<string> =>
  inTime('the build ends', async () => {
    const state = await buildState(app, build)
    return ['passed', 'failed', 'canceled'].includes(state) && state
  })

export const listVolumes = async (app: TestApp, world: HostedWorld): Promise<Json[]> =>
  (await app.request('GET', world.volumes, { token: world.admin.token })).list

/** Waits until all hosted agents and containers are gone. */
export async function untilQuiet(app: TestApp): Promise<void> {
  await inTime('all hosted agents are gone', async () => {
    const agents = await app.db.selectFrom('hosted_agents').select('id').execute()
    return agents.length === 0 && ((await app.ctx.hosted?.listContainers()) ?? []).length === 0
  })
}
