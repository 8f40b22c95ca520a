// Requests of hostile sizes and shapes. A test sends them for their answers, a benchmark for the time that they keep a server busy.
import { gzipSync } from 'node:zlib'

const org = '/v2/organizations/default'
const mebibyte = 1024 * 1024

interface Target {
  url: string
  /** An administrator's of the organization `default`. */
  token: string
}

export interface Reply {
  status: number
  /** Its beginning. */
  text: string
}

/** `again` is 0 for the first time. `prepare` runs before each later time, where the attack uses up its target. */
export type Attack = [
  name: string,
  send: (again: number) => Promise<Reply[]>,
  prepare?: () => Promise<unknown>,
]

/** They are sent one after the other, because some depend on those before them. */
export async function prepareAttacks(target: Target): Promise<Attack[]> {
  const job = await startJob(target)
  const suite = await call(target, `Bearer ${target.token}`, 'POST', `${org}/suites`, { name: 'Tests' })
  return attacksOn(target, job, String(suite['api_token']))
}

interface Job {
  id: string
  token: string
  build: string
  buildPath: string
}

function attacksOn(target: Target, job: Job, suiteToken: string): Attack[] {
  const ask = async (method: string, path: string, authorization: string, body?: unknown, encoding = '') => {
    const text = typeof body === 'string' || body instanceof Blob ? body : JSON.stringify(body)
    const headers = {
      Authorization: authorization,
      'Content-Type': 'application/json',
      ...(encoding === '' ? {} : { 'Content-Encoding': encoding }),
    }
    const response = await fetch(target.url + path, {
      method,
      headers,
      ...(text === undefined ? {} : { body: text }),
    })
    return { status: response.status, text: (await response.text()).slice(0, 300) }
  }
  const rest = (method: string, path: string, body?: unknown) =>
    ask(method, path, `Bearer ${target.token}`, body)
  const asJob = (method: string, path: string, body?: unknown) =>
    ask(method, path, `Token ${job.token}`, body)
  const upload = (pipeline: string) =>
    asJob('POST', `/v3/jobs/${job.id}/pipelines`, `{"uuid":"${crypto.randomUUID()}","pipeline":${pipeline}}`)
  const results = (data: string) => {
    const body = gzipSync(`{"format":"json","run_env":{"key":"${crypto.randomUUID()}"},"data":${data}}`)
    return ask('POST', '/v1/uploads', `Token token="${suiteToken}"`, new Blob([body]), 'gzip')
  }
  const numbered = (name: string, again: number) => (again === 0 ? name : `${name}-${again}`)
  let made = 0
  const pipeline = (configuration: string) =>
    rest('POST', `${org}/pipelines`, {
      name: `P${++made}`,
      repository: 'https://git.example.com/a.git',
      configuration,
    })
  const many = (count: number, piece: (index: number) => string, separator = '') =>
    Array.from({ length: count }, (_, index) => piece(index)).join(separator)
  const fill = (piece: string, bytes: number) => piece.repeat(Math.floor(bytes / piece.length))
  const bracketed = (bytes: number) => `[${fill('[],', bytes)}[]]`
  const annotations = `${job.buildPath}/annotations`

  const revision = { commit: 'HEAD', branch: 'main' }
  const large = `steps:\n${many(4000, (index) => `- command: c${index}\n`)}`
  const adjustments = many(5000, (index) => `{"with":"v${index}","skip":true}`, ',')
  const entries = (count: number, value: string) => `{${many(count, (index) => `"k${index}":${value}`, ',')}}`

  return [
    ['upload: 16 MiB of lists', async () => [await upload(bracketed(15 * mebibyte))]],
    ['upload: 90,000 lists', async () => [await upload(`{"steps":[${fill('[],', 270_000)}[]]}`)]],
    [
      'upload: 15 MiB of text',
      async () => [await upload(`{"steps":[{"command":"${fill('x', 15 * mebibyte)}"}]}`)],
    ],
    [
      'upload: 400 steps with 200 variables each',
      async () => [
        await upload(
          `{"steps":[${many(400, (i) => `{"command":"c${i}","env":${entries(200, '"v"')}}`, ',')}]}`,
        ),
      ],
    ],
    [
      'upload: 400 steps with 100 plugins each',
      async () => [
        await upload(
          `{"steps":[${many(400, () => `{"command":"c","plugins":[${fill('{"a#v1":{"b":1}},', 1700)}"z#v1"]}`, ',')}]}`,
        ),
      ],
    ],
    [
      'upload: 5,000 matrix adjustments',
      async () => [
        await upload(
          `{"steps":[{"command":"c {{matrix}}","matrix":{"setup":["a"],"adjustments":[${adjustments}]}}]}`,
        ),
      ],
    ],
    ['test results: 64 MiB of lists in 65 kB of gzip', async () => [await results(bracketed(63 * mebibyte))]],
    [
      'test results: 5,000 failures of 10 kB',
      async () => [
        await results(
          `[${many(5000, (i) => `{"name":"t${i}","history":{"start_at":1},"result":"failed","failure_reason":"${fill('r', 4000)}","failure_expanded":[{"expanded":["${fill('e', 6000)}"],"backtrace":[]}]}`, ',')}]`,
        ),
      ],
    ],
    [
      'annotations: 3 of 1 MiB of brackets, read twice',
      async () => {
        const replies: Reply[] = []
        for (let index = 0; index < 3; index++)
          replies.push(await rest('POST', annotations, { body: fill('[', mebibyte), context: `c${index}` }))
        replies.push(await rest('GET', annotations), await rest('GET', annotations))
        return replies
      },
    ],
    [
      'annotation: 1 MiB that is slow to render',
      async () => [
        await asJob('POST', `/v3/jobs/${job.id}/annotations`, {
          body: fill('_a', mebibyte),
          context: 'slow',
        }),
      ],
    ],
    [
      'annotation: 1 MiB of ampersands',
      async () => [await rest('POST', annotations, { body: fill('&', mebibyte), context: 'amp' })],
    ],
    [
      'artifact search: 300 times **/',
      async () => [await asJob('GET', `/v3/builds/${job.build}/artifacts/search?query=${fill('**/', 900)}`)],
    ],
    [
      'artifact search: 100 wildcards',
      async () => [await asJob('GET', `/v3/builds/${job.build}/artifacts/search?query=${fill('**/a', 400)}`)],
    ],
    ['pipeline: 1 MiB of lists', async () => [await pipeline(`steps: ${bracketed(mebibyte - 100)}`)]],
    [
      'pipeline: 1 MiB of unknown steps',
      async () => [await pipeline(`steps:\n${fill('- {a: b}\n', mebibyte - 100)}`)],
    ],
    ['pipeline: 1 MiB of deep nesting', async () => [await pipeline(`steps: ${fill('[', mebibyte - 100)}`)]],
    [
      'pipeline: anchors that multiply',
      async () => [
        await pipeline(
          `a: &a [x]\n${many(12, (i) => `b${i}: &b${i} [${fill(i === 0 ? '*a,' : `*b${i - 1},`, 60)}]\n`)}steps: *b11\n`,
        ),
      ],
    ],
    [
      'pipeline: 3,000 conditions',
      async () => [
        await pipeline(
          `steps:\n${fill(`- {command: a, if: '${fill('build.branch =~ /^(a+)+$/ || ', 200)}true'}\n`, mebibyte - 100)}`,
        ),
      ],
    ],
    [
      'pipeline: 10,000 variables',
      async () => [await pipeline(`env:\n${many(10_000, (i) => `  k${i}: v\n`)}steps: [{command: a}]`)],
    ],
    [
      'pipeline: steps that each wait for all before',
      async () => [
        await pipeline(
          `steps:\n${many(250, (i) => `- {command: a, key: k${i}, depends_on: [${many(i, (j) => `k${j}`, ',')}]}\n`)}`,
        ),
      ],
    ],
    [
      'pipeline of 4,000 steps: saved',
      async (again) => [
        await rest('POST', `${org}/pipelines`, {
          name: numbered('Large', again),
          repository: 'https://git.example.com/a.git',
          configuration: large,
        }),
      ],
    ],
    [
      'pipeline of 4,000 steps: shown',
      async () => [await rest('GET', `${org}/pipelines/large`), await rest('GET', `${org}/pipelines`)],
    ],
    [
      'build of 4,000 steps: made',
      async () => [await rest('POST', `${org}/pipelines/large/builds`, revision)],
    ],
    [
      'build of 4,000 steps: shown',
      async () => [await rest('GET', `${org}/pipelines/large/builds/1`), await rest('GET', `${org}/builds`)],
    ],
    [
      'build of 4,000 steps: canceled',
      async (again) => [await rest('PUT', `${org}/pipelines/large/builds/${again + 1}/cancel`)],
      () => rest('POST', `${org}/pipelines/large/builds`, revision),
    ],
    [
      'build of 2,000 steps, each behind a wait',
      async (again) => [
        await rest('POST', `${org}/pipelines`, {
          name: numbered('Waits', again),
          repository: 'https://git.example.com/a.git',
          configuration: `steps:\n${many(2000, (i) => `- command: c${i}\n- wait\n`)}`,
        }),
        await rest('POST', `${org}/pipelines/${numbered('waits', again)}/builds`, revision),
        await rest('PUT', `${org}/pipelines/${numbered('waits', again)}/builds/1/cancel`),
      ],
    ],
    [
      'upload: 500 steps',
      async () => [await upload(`{"steps":[${many(500, (i) => `{"command":"c${i}"}`, ',')}]}`)],
    ],
    [
      'body: 1 MiB of lists',
      async () => [await rest('POST', `${org}/clusters`, `{"name":${bracketed(mebibyte - 100)}}`)],
    ],
    [
      'body: 9,000 fields of the wrong type',
      async () => [await rest('POST', `${org}/pipelines/large/builds`, `{"env":${entries(9000, '[]')}}`)],
    ],
    [
      'body: 9,000 variables and meta-data',
      async () => [
        await rest(
          'POST',
          job.buildPath.replace(/\/\d+$/, ''),
          `{"commit":"HEAD","branch":"main","env":${entries(4500, '"v"')},"meta_data":${entries(4500, '"v"')}}`,
        ),
      ],
    ],
    [
      'body: 1 MiB of deep nesting',
      async () => [await rest('POST', `${org}/clusters`, `{"name":${fill('[', mebibyte - 100)}`)],
    ],
    [
      'query: 500 filters',
      async () => [await rest('GET', `${org}/builds?${many(500, (i) => `meta_data[k${i}]=v`, '&')}`)],
    ],
    [
      'query: long branches and cursors',
      async () => [
        await rest('GET', `${org}/builds?branch=${fill('*a', 12_000)}`),
        await rest('GET', `${org}/audit_events?after=${fill('x', 12_000)}`),
      ],
    ],
    [
      'agent: meta-data of 512 KiB',
      async () => [
        await asJob('POST', `/v3/jobs/${job.id}/data/set`, { key: 'k', value: fill('v', mebibyte / 2) }),
      ],
    ],
  ]
}

/** A job that this client runs as an agent. */
async function startJob(target: Target): Promise<Job> {
  const post = (path: string, body: object) =>
    call(target, `Bearer ${target.token}`, 'POST', org + path, body)
  const asAgent = (token: string, method: string, path: string, body?: object) =>
    call(target, `Token ${token}`, method, `/v3/${path}`, body)
  const cluster = await post('/clusters', { name: 'Ours' })
  const path = `/clusters/${String(cluster['id'])}`
  await post(`${path}/queues`, { key: 'ours' })
  const made = await post(`${path}/tokens`, { description: 'ours' })
  const agent = await asAgent(String(made['token']), 'POST', 'register', {
    name: 'ours',
    meta_data: ['queue=ours'],
  })
  const session = String(agent['access_token'])
  await asAgent(session, 'POST', 'connect')
  await post('/pipelines', {
    name: 'Ours',
    repository: 'https://git.example.com/a.git',
    cluster_id: cluster['id'],
    configuration: 'steps: [{command: wait, agents: {queue: ours}}]',
  })
  const build = await post('/pipelines/ours/builds', { commit: 'HEAD', branch: 'main' })
  const [waiting] = build['jobs'] as Array<{ id: string }>
  const id = String(waiting?.id)
  for (;;) {
    const { job } = await asAgent(session, 'GET', 'ping')
    if (job !== undefined && job !== null) break
  }
  const accepted = await asAgent(session, 'PUT', `jobs/${id}/accept`)
  const token = String(accepted['token'])
  await asAgent(token, 'PUT', `jobs/${id}/start`, { started_at: new Date().toISOString() })
  return {
    id,
    token,
    build: String(build['id']),
    buildPath: `${org}/pipelines/ours/builds/${String(build['number'])}`,
  }
}

async function call(
  { url }: Target,
  authorization: string,
  method: string,
  path: string,
  body?: object,
): Promise<Record<string, unknown>> {
  const response = await fetch(url + path, {
    method,
    headers: { Authorization: authorization, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>
}
