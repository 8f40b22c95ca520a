// The environment of a case: agents of one program in one ping mode, and builds for them.
import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { launch, type Running } from '../millrace.ts'
import { HttpFaultProxy } from './http-fault-proxy.ts'
import type { AgentProgram } from './programs.ts'
import type { Build, Cluster, Site } from './site.ts'

export type Mode = 'polling' | 'streaming'

interface AgentFlags {
  /** The server's, unless a proxy is in between. */
  endpoint?: string
  /** The bench's mode, unless a case needs another. */
  pingMode?: 'auto' | 'poll-only' | 'stream-only'
  /** Scripts by name. */
  hooks?: Readonly<Record<string, string>>
  flags?: readonly string[]
  /** The bench's, unless a case needs two. */
  program?: AgentProgram
}

export interface AgentProcess extends Running {
  name: string
  queue: string
}

interface Signing {
  signer: AgentProcess
  verifier: AgentProcess
}

const pingModes = { polling: 'poll-only', streaming: 'stream-only' } as const

const asFlags = (values: Readonly<Record<string, string>>) =>
  Object.entries(values).flatMap(([name, value]) => [`--${name}`, value])

export class Bench {
  readonly site: Site
  readonly mode: Mode
  private readonly program: AgentProgram
  private readonly signer: AgentProgram
  private readonly cluster: Cluster
  private readonly prefix: string
  private readonly agents: AgentProcess[] = []
  private readonly proxies: HttpFaultProxy[] = []
  private shared: Promise<AgentProcess> | null = null
  private signers: Promise<Signing> | null = null

  private constructor(site: Site, program: AgentProgram, mode: Mode, cluster: Cluster, signer: AgentProgram) {
    this.site = site
    this.program = program
    this.signer = signer
    this.mode = mode
    this.cluster = cluster
    this.prefix = cluster.id.slice(-6)
  }

  /** `signer` signs steps that `program` verifies. */
  static async open(site: Site, program: AgentProgram, mode: Mode, signer = program): Promise<Bench> {
    return new Bench(site, program, mode, await site.cluster(`${program.title}, ${mode}`), signer)
  }

  get reportsStop(): boolean {
    return this.program.reportsStop
  }

  async close(): Promise<void> {
    // An agent ends only after it could report its jobs.
    for (const proxy of this.proxies) proxy.recover()
    for (const agent of this.agents) agent.signal('SIGTERM')
    await Promise.all(this.agents.map(({ ended }) => ended))
    for (const proxy of this.proxies) proxy.close()
  }

  /** Between an agent and the server; closed with the bench. */
  async faultProxy(): Promise<HttpFaultProxy> {
    const proxy = await HttpFaultProxy.open(this.site.server.url)
    this.proxies.push(proxy)
    return proxy
  }

  /** An agent with its own queue, named after its purpose. */
  async start(
    purpose: string,
    {
      endpoint,
      pingMode = pingModes[this.mode],
      hooks = {},
      flags = [],
      program = this.program,
    }: AgentFlags = {},
  ): Promise<AgentProcess> {
    const queue = await this.site.queue(this.cluster, purpose)
    const folder = this.site.aFolder()
    const name = `${this.prefix}-${purpose}`
    mkdirSync(join(folder, 'hooks'))
    for (const [hook, script] of Object.entries(hooks)) {
      writeFileSync(join(folder, 'hooks', hook), script, { mode: 0o755 })
    }
    const running = launch(
      program.file,
      [
        ...program.start,
        ...asFlags({
          token: this.cluster.token,
          endpoint: endpoint ?? `${this.site.server.url}/v3`,
          tags: `queue=${queue}`,
          name: `${name}-%spawn`,
          'ping-mode': pingMode,
          'build-path': join(folder, 'build'),
          'hooks-path': join(folder, 'hooks'),
          'plugins-path': join(folder, 'plugins'),
          'sockets-path': join(folder, 'sockets'),
        }),
        ...flags,
      ],
      { HOME: folder },
    )
    const agent = { ...running, name, queue }
    this.agents.push(agent)
    return agent
  }

  /** Builds steps on the shared agents, or on an agent of the case. */
  async build(steps: readonly object[], agent?: AgentProcess): Promise<Build> {
    const { queue } = agent ?? (await this.sharedAgents())
    return this.site.build(this.cluster, { agents: { queue }, steps })
  }

  /** For cases that test jobs rather than agents. */
  private sharedAgents(): Promise<AgentProcess> {
    this.shared ??= this.start('shared', { flags: ['--spawn', '4'] })
    return this.shared
  }

  /** An agent that signs uploaded steps, and one that runs only signed steps. */
  signing(): Promise<Signing> {
    this.signers ??= this.startSigning()
    return this.signers
  }

  private async startSigning(): Promise<Signing> {
    const folder = this.site.aFolder()
    const { privateKey, publicKey } = generateKeyPairSync('ed25519')
    const write = (name: string, key: typeof publicKey) => {
      const jwk = { ...key.export({ format: 'jwk' }), alg: 'EdDSA', kid: 'suite', use: 'sig' }
      writeFileSync(join(folder, name), JSON.stringify({ keys: [jwk] }))
      return join(folder, name)
    }
    const signing = [
      '--signing-jwks-file',
      write('private.json', privateKey),
      '--signing-jwks-key-id',
      'suite',
    ]
    const signer = await this.start('signer', { program: this.signer, flags: signing })
    const verifying = ['--verification-jwks-file', write('public.json', publicKey), '--spawn', '3']
    return { signer, verifier: await this.start('verifier', { flags: verifying }) }
  }

  async secret(key: string, value: string): Promise<void> {
    await this.site.post(`/clusters/${this.cluster.id}/secrets`, { key, value })
  }

  /** A queue that no agent serves. */
  emptyQueue(key: string): Promise<string> {
    return this.site.queue(this.cluster, key)
  }
}
