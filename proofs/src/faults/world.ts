// The system under test: servers and workers on one PostgreSQL and one S3 store, behind a load balancer, with agents. Every
// process is real. Proxies stand where the network of an installation can fail.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '../../../testbed/dist/free-port.js'
import { startBalancer, type Balancer } from '../../../testbed/dist/balancer.js'
import { aBucket, ownBucket, type Bucket } from '../../../testbed/dist/bucket.js'
import { startPgbouncer } from '../../../testbed/dist/pgbouncer.js'
import { startTcpProxy, type TcpProxy } from '../../../testbed/dist/tcp-proxy.js'
import { PORT } from '@millrace/server/db/embedded/socket-dir.ts'
import { throwDice, type Dice } from '../dice.ts'
import type { Entry } from '../soak/ledger.ts'
import { createPipelines } from '../soak/pipelines.ts'
import { Server, startRunner, startSimulated, type AgentProcess } from '../soak/program.ts'
import { restOf, type Rest } from '../soak/rest.ts'
import { skewable } from './clock.ts'
import { Postgres } from './postgres.ts'
import { Probe, probePipeline, probeQueue, probeSteps } from './probe.ts'
import { startReceiver, type Receiver } from './receiver.ts'

export interface WorldPlan {
  seed: number
  apis: number
  workers: number
  /** In processes of eight agents at most. */
  simulatedAgents: number
  runners: number
  /** PgBouncer in transaction mode stands before the database. */
  hasPooler?: boolean
  /** Blobs are in the store of TEST_S3, if there is one. */
  usesGivenStore?: boolean
}

/** How long an agent may be silent. Longer than a busy machine delays one. */
export const agentLostSeconds = 15
const adminToken = 'mrt_the-token-of-the-administrator-of-faults'
const organization = 'default'

/** The parts that every installation under test has. */
export interface Surroundings {
  folder: string
  agents: Agents
  receiver: Receiver
  rest: Rest
  probe: Probe
  ledger: Entry[]
  violations: string[]
}

/** Several processes on one PostgreSQL and one store. */
export interface World extends Surroundings {
  database: { current: Postgres; proxy: TcpProxy }
  store: Bucket
  balancer: Balancer
  /** Stands between the balancer and half of the agents. */
  agentNetwork: TcpProxy
  apis: Supervised[]
  workers: Supervised[]
  close(): Promise<void>
}

/** Done in the end, in the reverse order. */
export type Closing = Array<() => unknown>

/** Creates a folder for `build`, and deletes it when the result is closed. */
export async function inFolder<T>(
  build: (folder: string, closing: Closing) => Promise<T>,
): Promise<T & { close(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-faults-'))
  chmodSync(folder, 0o755)
  const closing: Closing = [
    () => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }),
  ]
  const close = async () => {
    for (const step of closing.toReversed()) await step()
  }
  try {
    return { ...(await build(folder, closing)), close }
  } catch (error) {
    await close()
    throw error
  }
}

export const startWorld = (plan: WorldPlan): Promise<World> =>
  inFolder((folder, closing) => build(plan, folder, closing))

/** The settings that do not depend on the installation. Without the names of limits, they are the defaults. */
export const commonSettings = {
  MILLRACE_ADMIN_TOKEN: adminToken,
  MILLRACE_OUTBOUND_ALLOW: '127.0.0.0/8',
  MILLRACE_AGENT_LOST_SECONDS: String(agentLostSeconds),
  MILLRACE_ACCEPT_SECONDS: '5',
  MILLRACE_CANCEL_GRACE_SECONDS: '5',
  MILLRACE_LOG_LEVEL: 'warn',
}

async function build(plan: WorldPlan, folder: string, closing: Closing): Promise<Omit<World, 'close'>> {
  const database = await startDatabase(folder)
  closing.push(() => database.current.stop('immediate'), database.proxy.close)
  const store = await (plan.usesGivenStore === true ? aBucket() : ownBucket())
  const balancer = await startBalancer()
  const agentNetwork = await startTcpProxy(() => balancer.port)
  closing.push(store.close, balancer.close, agentNetwork.close)
  const violations: string[] = []
  const settings = {
    ...commonSettings,
    ...(plan.hasPooler === true ? await startPooler(database, closing) : urlOf(database)),
    ...store.env('blobs'),
    MILLRACE_URL: balancer.url,
    MILLRACE_SECRET_KEY: 'a key of 32+ characters that all replicas share',
  }
  const startAll = async (role: 'api' | 'worker', count: number) => {
    const started: Supervised[] = []
    for (let number = 1; number <= count; number++) {
      const port = await freePort()
      const server = new Supervised({ folder, name: `${role}-${number}`, role, port, settings, violations })
      closing.push(() => server.stop())
      await server.start()
      if (role === 'api') balancer.add(server.url)
      started.push(server)
    }
    return started
  }
  // The first one migrates and creates the organization.
  const apis = await startAll('api', plan.apis)
  const workers = await startAll('worker', plan.workers)
  while (balancer.ready() < plan.apis) await delay(20)
  const networks = [balancer.url, `http://127.0.0.1:${agentNetwork.port}`]
  const surroundings = await surround({ plan, folder, closing, networks, violations })
  return { ...surroundings, database, store, balancer, agentNetwork, apis, workers }
}

interface Place {
  plan: Pick<WorldPlan, 'seed' | 'simulatedAgents' | 'runners'>
  folder: string
  closing: Closing
  /** Addresses of the server. Clients use the first one, agents all of them in turn. */
  networks: readonly string[]
  violations: string[]
}

/** Creates pipelines and webhooks, and starts the agents. */
export async function surround({
  plan,
  folder,
  closing,
  networks,
  violations,
}: Place): Promise<Surroundings> {
  const dice = throwDice(plan.seed)
  const [address = ''] = networks
  const receiver = await startReceiver(throwDice(dice.between(0, 2 ** 30)))
  closing.push(receiver.close)
  const ledger: Entry[] = []
  const rest = restOf(address, organization, adminToken, (call, reason, status) => {
    if (status === 500) ledger.push({ kind: 'bug', call })
    ledger.push({ kind: 'failure', call, reason: `${status ?? 'no answer'} ${reason}`, at: Date.now() })
  })
  const token = await createPipelines(rest)
  const pipelines = `${address}/v2/organizations/${organization}/pipelines`
  const probe = new Probe({ url: pipelines, token: adminToken, folder })
  await createProbe(rest, folder, receiver)
  const record = (entry: Entry) => void ledger.push(entry)
  const agents = new Agents({ plan, networks, token, folder, dice, record })
  closing.push(() => agents.stop())
  await agents.start()
  return { folder, agents, receiver, rest, probe, ledger, violations }
}

async function startDatabase(folder: string): Promise<World['database']> {
  const database = { current: await Postgres.create(join(folder, 'postgres')) }
  const proxy = await startTcpProxy(() => database.current.socket)
  return Object.assign(database, { proxy })
}

const urlOf = ({ proxy }: World['database']) => ({ DATABASE_URL: Postgres.urlAt(proxy.port) })

async function startPooler({ current, proxy }: World['database'], closing: Closing) {
  const upstream = { host: dirname(current.socket), port: PORT, user: 'millrace', password: 'not-asked-for' }
  const pooler = await startPgbouncer(upstream, { poolSize: 20 })
  closing.push(pooler.stop)
  return {
    DATABASE_URL: Postgres.urlAt(pooler.port),
    MILLRACE_DATABASE_DIRECT_URL: Postgres.urlAt(proxy.port),
  }
}

async function createProbe(rest: Rest, folder: string, receiver: Receiver): Promise<void> {
  const [cluster] = await rest.get<Array<{ id: string }>>('clusters')
  await rest.post(`clusters/${cluster?.id ?? ''}/queues`, { key: probeQueue })
  await rest.post('pipelines', {
    name: probePipeline,
    repository: 'https://git.example.com/probe.git',
    cluster_id: cluster?.id,
    configuration: probeSteps(folder),
  })
  const events = ['build.scheduled', 'build.running', 'build.failing', 'build.finished', 'job.finished']
  await rest.post('services', { provider: 'webhook', settings: { url: receiver.url, events } })
}

interface SupervisedOptions {
  folder: string
  name: string
  role: 'api' | 'worker'
  /** Its own, because all servers have the URL of the balancer. */
  port: number
  settings: Record<string, string>
  violations: string[]
}

/** A server that is started again when it was killed. It must not end by itself. */
export class Supervised {
  readonly name: string
  readonly url: string
  private readonly server: Server
  private readonly clockFile: string
  private readonly violations: string[]

  constructor({ folder, name, role, port, settings, violations }: SupervisedOptions) {
    this.name = name
    this.violations = violations
    this.url = `http://127.0.0.1:${port}`
    this.clockFile = join(folder, `${name}.clock`)
    const data = join(folder, name)
    mkdirSync(data)
    const roles = { MILLRACE_ROLES: role, MILLRACE_AGENTS: '0', PORT: String(port) }
    this.server = new Server(
      data,
      { ...settings, ...roles, ...skewable(this.clockFile) },
      {
        command: 'up',
        logFile: join(folder, `${name}.log`),
        onExit: (reason) =>
          violations.push(
            `${name} ended by itself: ${reason}. It said: ${this.server.complaints.slice(-4000)}`,
          ),
      },
    )
  }

  start(): Promise<unknown> {
    return this.server.start()
  }

  /** Returns when it is dead; it is started again at once. */
  async kill(): Promise<{ back: Promise<unknown> }> {
    await this.server.end('SIGKILL')
    return { back: this.server.start() }
  }

  /** Ends it in an orderly way, and returns when the next one has started. */
  async restart(): Promise<void> {
    const code = await this.server.end('SIGTERM')
    if (code !== 0) this.violations.push(`${this.name} ended with ${code ?? 'a signal'} after SIGTERM.`)
    await this.server.start()
  }

  pause(): void {
    this.server.signal('SIGSTOP')
  }

  resume(): void {
    this.server.signal('SIGCONT')
  }

  /** Sets its clock ahead of the machine's, or behind it. */
  setClock(seconds: number): void {
    writeFileSync(this.clockFile, String(seconds * 1000))
    this.server.signal('SIGUSR2')
  }

  async stop(): Promise<void> {
    await this.server.end('SIGKILL')
  }
}

interface AgentOptions {
  plan: Place['plan']
  /** The addresses of the server; agents use them in turn. */
  networks: readonly string[]
  token: string
  folder: string
  dice: Dice
  record(entry: Entry): void
}

const agentsPerProcess = 8

class Agents {
  private readonly options: AgentOptions
  private simulated: Array<{ process: AgentProcess; network: string; count: number }> = []
  private runners: AgentProcess[] = []
  private probe: AgentProcess | null = null

  constructor(options: AgentOptions) {
    this.options = options
  }

  async start(): Promise<void> {
    const { plan, networks, token, folder } = this.options
    for (let left = plan.simulatedAgents; left > 0; left -= agentsPerProcess) {
      const network = networks[this.simulated.length % networks.length] ?? ''
      await this.startSimulated(network, Math.min(left, agentsPerProcess))
    }
    const runner = { token, folder, logFile: join(folder, 'runners.log') }
    for (const [index, address] of networks.entries()) {
      const agents = Math.ceil((plan.runners - index) / networks.length)
      if (agents > 0) this.runners.push(await startRunner({ ...runner, address, agents, queue: 'runner' }))
    }
    const [address = ''] = networks
    this.probe = await startRunner({ ...runner, address, agents: 1, queue: probeQueue })
  }

  /** Kills a process of simulated agents and a runner. Both are started again. */
  async kill(dice: Dice): Promise<void> {
    const [victim] = this.simulated.splice(dice.between(0, this.simulated.length - 1), 1)
    this.runners[dice.between(0, this.runners.length - 1)]?.signal('SIGKILL')
    if (victim === undefined) return
    await victim.process.kill()
    await this.startSimulated(victim.network, victim.count)
  }

  /** Stops a process of simulated agents and a runner for a while. */
  async pause(dice: Dice, ms: number): Promise<void> {
    const paused = [
      this.simulated[dice.between(0, this.simulated.length - 1)]?.process,
      this.runners[dice.between(0, this.runners.length - 1)],
    ]
    for (const agent of paused) agent?.signal('SIGSTOP')
    await delay(ms)
    for (const agent of paused) agent?.signal('SIGCONT')
  }

  async stop(): Promise<void> {
    const all = [...this.simulated.map(({ process }) => process), ...this.runners]
    await Promise.all([...all, ...(this.probe === null ? [] : [this.probe])].map((agent) => agent.kill()))
  }

  private async startSimulated(network: string, count: number): Promise<void> {
    const { token, dice, record } = this.options
    const seed = dice.between(0, 2 ** 30)
    const settings = { address: network, token, agents: count, seed, streams: 0.7, jobMs: 1000 }
    this.simulated.push({ process: await startSimulated(settings, record), network, count })
  }
}
