// A build whose jobs run when the test says so. The test is the agent: it makes an agent's calls, and runs no commands.
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { eventually, type Client, type Json } from '../millrace.ts'

const org = '/v2/organizations/default'

interface SceneOptions {
  /** YAML of the steps. */
  steps: string
  name?: string
  message?: string
  branch?: string
  agentName?: string
}

export interface Scene {
  pipeline: string
  /** Path of the build's page. */
  page: string
  /** Path of the build in the API. */
  api: string
  clusterPage: string
  queuePage: string
  queueApi: string
  /** Waits for a job to be offered, and starts it. */
  begin(): Promise<Run>
}

/** A job that has started. */
export interface Run {
  id: string
  name: string
  /** Appends to its log. */
  write(text: string): Promise<void>
  finish(exitStatus?: number): Promise<void>
  call(method: string, path: string, body: object): Promise<void>
  /** Uploads an artifact. */
  upload(path: string, type: string, content: Buffer): Promise<void>
}

/** Everything has a name of its own, also the queue, so that no other agent takes the jobs. */
export async function aScene(server: Client, options: SceneOptions): Promise<Scene> {
  const unique = randomBytes(6).toString('hex')
  const { steps, name = `Scene ${unique}`, message = 'A change', branch = 'main' } = options
  const cluster = String((await server.get(`${org}/clusters`)).body['0']?.['id'])
  const clusterApi = `${org}/clusters/${cluster}`
  const queue = await post(server, `${clusterApi}/queues`, { key: `q-${unique}` })
  const token = await post(server, `${clusterApi}/tokens`, { description: unique })
  const { slug } = await post(server, `${org}/pipelines`, {
    name,
    slug: `scene-${unique}`,
    repository: 'https://git.example.com/a.git',
    configuration: `agents: { queue: q-${unique} }\n${steps}`,
  })
  const builds = `${org}/pipelines/${slug}/builds`
  const { number } = await post(server, builds, { commit: 'HEAD', branch, message })
  const clusterPage = `/organizations/default/clusters/${cluster}`
  const agent = await anAgent(server, String(token['token']), {
    name: options.agentName ?? `agent-${unique}`,
    tags: [`queue=q-${unique}`],
  })
  return {
    pipeline: String(slug),
    page: `/default/${slug}/builds/${number}`,
    api: `${builds}/${number}`,
    clusterPage,
    queuePage: `${clusterPage}/queues/${queue['id']}`,
    queueApi: `${clusterApi}/queues/${queue['id']}`,
    begin: agent,
  }
}

async function post(server: Client, path: string, body: object): Promise<Json> {
  const answer = await server.post(path, body)
  if (answer.status !== 201) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
  return answer.body
}

/** Registers an agent. Returns what takes and starts its next job. */
async function anAgent(
  server: Client,
  token: string,
  { name, tags }: { name: string; tags: string[] },
): Promise<() => Promise<Run>> {
  const registered = await call(server, token, 'POST', 'register', {
    name,
    hostname: 'test-host',
    os: 'linux',
    arch: 'amd64',
    version: '3.137.0',
    build: 'x',
    meta_data: tags,
  })
  const session = String(registered['access_token'])
  await call(server, session, 'POST', 'connect')
  return async () => {
    const id = await eventually('the agent is offered a job', async () => {
      const offered = (await call(server, session, 'GET', 'ping'))['job']
      return offered === undefined ? false : String(offered['id'])
    })
    const job = await call(server, session, 'PUT', `jobs/${id}/accept`)
    const run = aRun(server, job)
    await run.call('PUT', `jobs/${id}/start`, { started_at: new Date().toISOString() })
    return run
  }
}

interface FormInstructions {
  data: Record<string, string>
  action: { url: string; path: string; method: string; file_input: string }
}

function aRun(server: Client, job: Json): Run {
  const id = String(job['id'])
  const token = String(job['token'])
  let sequence = 0
  let offset = 0
  return {
    id,
    name: String(job['env']?.['BUILDKITE_LABEL']),
    async write(text) {
      const bytes = Buffer.from(text)
      const place = `sequence=${++sequence}&offset=${offset}&size=${bytes.length}`
      offset += bytes.length
      const response = await fetch(`${server.url}/v3/jobs/${id}/chunks?${place}`, {
        method: 'POST',
        headers: {
          Authorization: `Token ${token}`,
          'Content-Type': 'text/plain',
          'Content-Encoding': 'gzip',
        },
        body: gzipSync(bytes),
      })
      if (!response.ok) throw new Error(`chunks: ${await response.text()}`)
    },
    async finish(exitStatus = 0) {
      await call(server, token, 'PUT', `jobs/${id}/finish`, {
        exit_status: String(exitStatus),
        finished_at: new Date().toISOString(),
        chunks_failed_count: 0,
      })
    },
    async call(method, path, body) {
      await call(server, token, method, path, body)
    },
    async upload(path, type, content) {
      const digest = (algorithm: string) => createHash(algorithm).update(content).digest('hex')
      const announced = {
        path,
        absolute_path: `/builds/${path}`,
        glob_path: '*',
        file_size: content.length,
        sha1sum: digest('sha1'),
        sha256sum: digest('sha256'),
        content_type: type,
      }
      const answer = await call(server, token, 'POST', `jobs/${id}/artifacts`, {
        id: randomUUID(),
        upload_destination: '',
        artifacts: [announced],
      })
      const artifact = String(answer['artifact_ids']?.['0'])
      const { data, action } = (answer['per_artifact_instructions']?.[artifact] ??
        answer['upload_instructions']) as unknown as FormInstructions
      const form = new FormData()
      for (const [name, value] of Object.entries(data))
        form.set(name, value.replaceAll('${artifact:path}', path))
      form.set(action.file_input, new Blob([new Uint8Array(content)]), path)
      const sent = await fetch(new URL(action.path, action.url), { method: action.method, body: form })
      if (!sent.ok) throw new Error(`upload: ${await sent.text()}`)
      await call(server, token, 'PUT', `jobs/${id}/artifacts`, {
        artifacts: [{ id: artifact, state: 'finished' }],
      })
    },
  }
}

async function call(
  server: Client,
  token: string,
  method: string,
  path: string,
  body?: object,
): Promise<Json> {
  const response = await fetch(`${server.url}/v3/${path}`, {
    method,
    headers: { Authorization: `Token ${token}`, 'Content-Type': 'application/json' },
    ...(method === 'GET' ? {} : { body: JSON.stringify(body ?? {}) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path}: ${text}`)
  return (text.startsWith('{') ? JSON.parse(text) : {}) as Json
}

/** Rows `from` to `to` of a log, each with its number. */
export const rowsOf = (from: number, to: number, word = 'row'): string =>
  Array.from({ length: to - from + 1 }, (_, index) => `${word} ${from + index}\r\n`).join('')
