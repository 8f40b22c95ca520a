// One server for the whole suite, a real repository, and helpers for both.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { freePort } from '../../testbed/src/free-port.ts'
import { scratch } from '../../testbed/src/scratch.ts'
import {
  copyEmptyInstallation,
  databaseUrl,
  eventually,
  keepMillrace,
  startServer,
  type Answer,
  type Json,
  type Server,
} from '../millrace.ts'

export interface Cluster {
  id: string
  token: string
}

export interface Build {
  /** Relative to the pipeline. */
  path: string
  id: string
}

/** Agents may wait long before they repeat a request. */
const deadlineMs = 300_000

export interface SiteSettings {
  /** The limit for lost agents. The default is longer than a busy machine ever delays one. */
  lostSeconds?: number
}

export class Site {
  server: Server
  readonly folder: string
  readonly token: string
  private pipelines = 0
  private db: Promise<pg.Client> | null = null

  private constructor(server: Server, folder: string) {
    this.server = server
    this.folder = folder
    this.token = server.token
  }

  static async start({ lostSeconds = 180 }: SiteSettings = {}): Promise<Site> {
    const folder = mkdtempSync(join(scratch(), 'mr-conf-'))
    makeRepository(join(folder, 'repository'))
    copyEmptyInstallation(join(folder, 'data'))
    return new Site(await start(folder, String(await freePort()), lostSeconds), folder)
  }

  /** Kills the server with its database, and starts it again at the same address. */
  async crash(): Promise<void> {
    await this.disconnect()
    this.server.killGroup()
    await this.server.ended
    this.server = await start(this.folder, new URL(this.server.url).port, 180)
  }

  async close(): Promise<void> {
    await this.disconnect()
    this.server.signal('SIGTERM')
    await this.server.ended
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 })
  }

  /** A new folder. */
  aFolder(): string {
    return mkdtempSync(join(this.folder, 'f-'))
  }

  async cluster(name: string): Promise<Cluster> {
    const { body } = await this.post('/clusters', { name })
    const id = String(body.id)
    const { body: token } = await this.post(`/clusters/${id}/tokens`, { description: 'suite' })
    return { id, token: String(token.token) }
  }

  async queue(cluster: Cluster, key: string): Promise<string> {
    await this.post(`/clusters/${cluster.id}/queues`, { key })
    return key
  }

  /** Builds this configuration in a new pipeline. Variables are left to the shell. */
  async build(cluster: Cluster, configuration: object): Promise<Build> {
    this.pipelines += 1
    const name = `p${this.pipelines}`
    const text = JSON.stringify(configuration).replaceAll('$', '$$$$')
    const repository = join(this.folder, 'repository')
    await this.post('/pipelines', { name, repository, cluster_id: cluster.id, configuration: text })
    const { body } = await this.post(`/pipelines/${name}/builds`, { commit: 'HEAD', branch: 'main' })
    return { path: `/pipelines/${name}/builds/1`, id: String(body.id) }
  }

  async get(path: string): Promise<Json> {
    return (await expectSuccess(this.server.get(organization + path, this.token), path)).body
  }

  async post(path: string, body: object): Promise<Answer> {
    return expectSuccess(this.server.post(organization + path, body, this.token), path)
  }

  async put(path: string, body: object): Promise<Answer> {
    return expectSuccess(this.server.put(organization + path, body, this.token), path)
  }

  /** As a browser would get them, redirects included. */
  async bytes(path: string): Promise<Buffer> {
    const response = await fetch(this.server.url + organization + path, {
      headers: { Authorization: `Bearer ${this.token}` },
    })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return Buffer.from(await response.arrayBuffer())
  }

  async log(build: Build, job: Json): Promise<string> {
    const text = await this.bytes(`${build.path}/jobs/${String(job.id)}/log.txt?ansi=true`)
    return text.toString()
  }

  /** The step's job, as soon as the condition holds. */
  job(build: Build, step: string, what: string, holds: (job: Json) => boolean): Promise<Json> {
    return this.until(`${step} ${what}`, async () => {
      const { jobs } = await this.get(build.path)
      const job = Object.values(jobs ?? {}).find((one) => String(one.step_key) === step)
      return job !== undefined && holds(job) && job
    })
  }

  ended(build: Build, step: string): Promise<Json> {
    return this.job(build, step, 'ends', (job) => job.finished_at !== null)
  }

  running(build: Build, step: string): Promise<Json> {
    return this.job(build, step, 'runs', (job) => String(job.state) === 'running')
  }

  /** The step's job, as soon as its log has the text. */
  async says(build: Build, step: string, text: string): Promise<Json> {
    const job = await this.running(build, step)
    await this.until(`${step} says ${text}`, async () => (await this.log(build, job)).includes(text))
    return job
  }

  agent(name: string, state: string): Promise<Json> {
    return this.until(`agent ${name} is ${state}`, async () => {
      const [agent] = await this.query<{ id: string }>(
        'select id from agents where name = $1 and connection_state = $2',
        [name, state],
      )
      return agent !== undefined && this.get(`/agents/${agent.id}`)
    })
  }

  /** Moves the deadline to now, because the shortest limit is a minute. */
  async passTimeLimit(job: Json): Promise<void> {
    await this.query('update jobs set deadline_at = now() where id = $1', [String(job.id)])
  }

  private async query<Row extends pg.QueryResultRow>(sql: string, values: string[]): Promise<Row[]> {
    this.db ??= connect(databaseUrl(this.server))
    return (await (await this.db).query<Row>(sql, values)).rows
  }

  private async disconnect(): Promise<void> {
    await (await this.db)?.end()
    this.db = null
  }

  until<T>(what: string, check: () => Promise<T | undefined | false>): Promise<T> {
    return eventually(what, check, deadlineMs, 400)
  }
}

const organization = '/v2/organizations/default'

const start = (folder: string, port: string, lostSeconds: number): Promise<Server> =>
  startServer(
    {
      PORT: port,
      MILLRACE_DATA_DIR: join(folder, 'data'),
      MILLRACE_AGENTS: '0',
      MILLRACE_AGENT_LOST_SECONDS: String(lostSeconds),
    },
    'up',
    keepMillrace,
  )

async function connect(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  return client
}

async function expectSuccess(asked: Promise<Answer>, path: string): Promise<Answer> {
  const answer = await asked
  if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer
}

function makeRepository(folder: string): void {
  mkdirSync(folder)
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=Suite', '-c', 'user.email=suite@example.com', ...args], {
      cwd: folder,
      stdio: 'ignore',
    })
  git('init', '--quiet', '--initial-branch=main')
  writeFileSync(join(folder, 'README'), 'A repository for tests.\n')
  git('add', '.')
  git('commit', '--quiet', '--message', 'The first commit')
}
