// A hosted cluster, its builds, and the resources that they use.
import pg from 'pg'
import { isDeepStrictEqual } from 'node:util'
import { importImage } from '../testbed/src/engine.ts'
import type { TestEngine } from '../testbed/src/test-engines.ts'
import { databaseUrl, eventually, millrace, type Json, type Server, type Settings } from './millrace.ts'

const jobImage = 'localhost/millrace-test/jobs:1'

/** With the programs that the runner and the tests' commands use. */
export const importJobImage = (engine: TestEngine): Promise<void> =>
  importImage(engine.docker, jobImage, ['bash', 'date', 'env', 'git', 'head', 'id', 'mkfifo', 'stat'])

export const hostedSettings = (engine: TestEngine, dataDir: string): Settings => ({
  MILLRACE_DATA_DIR: dataDir,
  MILLRACE_AGENTS: '0',
  MILLRACE_HOSTED: `docker://${engine.socketPath}`,
  MILLRACE_HOSTED_BASE_IMAGE: jobImage,
  MILLRACE_HOSTED_WARM_AGENTS: '0',
  HOST: engine.hostAddress,
})

const shape = `LINUX_${process.arch === 'arm64' ? 'ARM64' : 'AMD64'}_2X4`

/** For a busy machine. */
const deadlineMs = 240_000

export interface Pipeline {
  id: string
  slug: string
  path: string
}

interface Ran {
  state: string
  log: string
}

export class HostedCluster {
  /** Replaced after a restart. */
  server: Server
  readonly path: string
  private readonly token: string
  private readonly id: string
  private readonly queue: string

  private constructor(server: Server, id: string, queueId: string) {
    this.server = server
    this.token = server.token
    this.id = id
    this.path = `/v2/organizations/default/clusters/${id}`
    this.queue = `${this.path}/queues/${queueId}`
  }

  static async create(server: Server, settings: Settings): Promise<HostedCluster> {
    const feature = ['org', 'set', 'default', '--feature', 'custom_agent_images=on']
    assertEqual('The feature is on', (await millrace(feature, settings)).code, 0)
    const made = await server.post('/v2/organizations/default/clusters', { name: 'Hosted', hosted: true })
    assertEqual('The cluster is created', made.status, 201)
    const id = String(made.body.id)
    const path = `/v2/organizations/default/clusters/${id}`
    const queue = await server.post(`${path}/queues`, {
      key: 'default',
      hostedAgents: { instanceShape: shape },
    })
    assertEqual('The queue is created', queue.status, 201)
    const chosen = await server.put(path, { default_queue_id: queue.body.id })
    assertEqual('The queue becomes the default', chosen.status, 200)
    return new HostedCluster(server, id, String(queue.body.id))
  }

  get = (path: string) => this.server.get(path, this.token)
  post = (path: string, body: object) => this.server.post(path, body, this.token)

  async delete(path: string, body: object = {}): Promise<number> {
    const headers = { Authorization: `Bearer ${this.token}`, 'Content-Type': 'application/json' }
    const init = { method: 'DELETE', headers, body: JSON.stringify(body) }
    return (await fetch(this.server.url + path, init)).status
  }

  /** Returns the image's path. */
  async startImage(name: string, dockerfile: string): Promise<string> {
    const made = await this.post(`${this.path}/agent-images`, { name, dockerfile })
    assertEqual(
      'The image is created',
      [made.status, made.body.status, made.body.image_ref],
      [201, 'BUILDING', null],
    )
    return `${this.path}/agent-images/${String(made.body.id)}`
  }

  untilBuilt = (image: string): Promise<Json> =>
    eventually(
      'the image has been built',
      async () => {
        const { body } = await this.get(image)
        return String(body.status) === 'BUILDING' ? undefined : body
      },
      deadlineMs,
    )

  async useImage(agentImageRef: string | null): Promise<void> {
    const hostedAgents = { instanceShape: shape, agentImageRef }
    const { status } = await this.server.put(this.queue, { hostedAgents }, this.token)
    assertEqual('The queue gets its image', status, 200)
  }

  async pipeline(name: string, command: string, cache: string | null = null): Promise<Pipeline> {
    const step = { command, checkout: { skip: true }, ...(cache === null ? {} : { cache }) }
    const { status, body } = await this.post('/v2/organizations/default/pipelines', {
      name,
      repository: 'https://git.example.com/acme/demo.git',
      cluster_id: this.id,
      configuration: JSON.stringify({ steps: [step] }),
    })
    assertEqual('The pipeline is created', status, 201)
    const slug = String(body.slug)
    return { id: String(body.id), slug, path: `/v2/organizations/default/pipelines/${slug}` }
  }

  /** Returns the path of the build. */
  async startBuild(pipeline: Pipeline, env: Record<string, string> = {}): Promise<string> {
    const build = { commit: 'HEAD', branch: 'main', message: 'x', env }
    const { status, body } = await this.post(`${pipeline.path}/builds`, build)
    assertEqual('The build is created', status, 201)
    return `${pipeline.path}/builds/${String(body.number)}`
  }

  async untilEnded(build: string): Promise<Ran> {
    const ended = await eventually(
      'the build has ended',
      async () => {
        const { body } = await this.get(build)
        return JSON.stringify(body.finished_at) !== 'null' && body
      },
      deadlineMs,
    )
    return { state: String(ended.state), log: await this.logOf(build) }
  }

  run = async (pipeline: Pipeline, env: Record<string, string> = {}): Promise<Ran> =>
    this.untilEnded(await this.startBuild(pipeline, env))

  /** Waits until no hosted agent is left. */
  async untilIdle(): Promise<void> {
    await eventually('no agent is left', async () => (await countAgents(this.server)) === 0, deadlineMs)
  }

  async clearCache(): Promise<void> {
    const path = `${this.path}/cache_volumes`
    const { body } = await this.get(path)
    for (const { tag } of body as unknown as Json[]) {
      assertEqual('The volume is deleted', await this.delete(path, { tag }), 204)
    }
  }

  async logOf(build: string): Promise<string> {
    const { body } = await this.get(build)
    const log = await this.get(`${build}/jobs/${String(body.jobs[0].id)}/log`)
    // Each line begins with its time.
    return String(log.body.content).replaceAll(/\r|\u001b_bk;t=\d+\u0007/g, '')
  }
}

interface Resources {
  containers: number
  volumes: number
  networks: number
  images: number
  /** Hosted agents with a valid token or session. */
  tokens: number
}

/** Counts all resources in the engine, and agents in the database. */
export async function countResources({ docker }: TestEngine, server: Server): Promise<Resources> {
  const { Volumes } = await docker.listVolumes()
  return {
    containers: (await docker.listContainers({ all: true })).length,
    volumes: Volumes?.length ?? 0,
    networks: (await docker.listNetworks()).length,
    images: (await docker.listImages({ all: true })).length,
    tokens: await countAgents(server),
  }
}

/** Waits until the resources are as they were `before`. */
export const untilFreed = (engine: TestEngine, server: Server, before: Resources): Promise<unknown> => {
  let found = before
  return eventually(
    'nothing is left',
    async () => {
      found = await countResources(engine, server)
      return isDeepStrictEqual(found, before)
    },
    deadlineMs,
  ).catch((error: unknown) => {
    assertEqual('Nothing is left', found, before)
    throw error
  })
}

export async function countAgents(server: Server): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl(server) })
  await client.connect()
  const { rows } = await client.query<{ count: number }>(`
    select (select count(*) from hosted_agents)::int
      + (select count(*) from agents where connection_state in ('never_connected', 'connected'))::int as count`)
  await client.end()
  return rows[0]?.count ?? NaN
}

function assertEqual(what: string, is: unknown, shouldBe: unknown): void {
  if (isDeepStrictEqual(is, shouldBe)) return
  throw new Error(`${what}: ${JSON.stringify(is)} instead of ${JSON.stringify(shouldBe)}`)
}
