// Sends hostile sizes to a real server, one after the other, while another client checks its health.
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { measureSlowness, watchEventLoop, type EventLoopWatch } from '../event-loop.ts'
import { aDataDirectory, startServer, type Server } from '../millrace.ts'

const org = '/v2/organizations/default'

/** The aim is 100 ms. The host of a virtual machine may take the processor meanwhile, which counts as time of the process. */
const mostMs = 400
const mebibyte = 1024 * 1024

interface Reply {
  status: number
  text: string
}

describe('abuse case R5: a request that keeps the server busy', () => {
  it('blocks the event loop only briefly, whatever it sends', async () => {
    const loop = watchEventLoop()
    const settings = { MILLRACE_DATA_DIR: aDataDirectory(), ...loop.settings }
    const server = await startServer(settings)
    const job = await aRunningJob(server)
    const suite = await server.post(`${org}/suites`, { name: 'Tests' })
    const pauses: Record<string, Pause> = {}
    for (const attack of attacks(server, job, String(suite.body['api_token'])))
      pauses[attack[0]] = await shortestPause((again) => pauseOf(server, loop, attack, again))
    const tooLong = Object.entries(pauses).filter(([, pause]) => isTooLong(pause))
    expect(tooLong, `All pauses: ${JSON.stringify(pauses)}`).toEqual([])
  })
})

interface Pause {
  ms: number
  allowedMs: number
}

const isTooLong = ({ ms, allowedMs }: Pause) => ms > allowedMs

/**
 * A request that blocks the event loop does so every time; other work of the process may fall into one measurement. So a pause
 * that is too long is measured again.
 */
async function shortestPause(measure: (again: number) => Promise<Pause>): Promise<Pause> {
  let shortest = await measure(0)
  for (let again = 1; again <= 5 && isTooLong(shortest); again++) {
    const pause = await measure(again)
    if (pause.ms < shortest.ms) shortest = pause
  }
  return shortest
}

async function pauseOf(
  server: Server,
  loop: EventLoopWatch,
  [name, send, prepare]: Attack,
  again: number,
): Promise<Pause> {
  if (again > 0) await prepare?.()
  await flushPauses(server)
  loop.longestPause()
  const slowness = measureSlowness()
  const replies = await whilePinging(server, () => send(again))
  await flushPauses(server)
  for (const { status, text } of replies) expect([name, status < 500, text]).toEqual([name, true, text])
  // The machine's speed changes during the test, so it is measured around each attack.
  return { ms: loop.longestPause(), allowedMs: Math.round(mostMs * Math.max(slowness, measureSlowness())) }
}

interface Job {
  id: string
  token: string
  build: string
  buildPath: string
}

/** `again` is 0 for the first time. `prepare` runs before each later time, where the attack uses up its target. */
type Attack = [name: string, send: (again: number) => Promise<Reply[]>, prepare?: () => Promise<unknown>]

function attacks(server: Server, job: Job, suiteToken: string): Attack[] {
  const ask = async (method: string, path: string, authorization: string, body?: unknown, encoding = '') => {
    const text = typeof body === 'string' || body instanceof Blob ? body : JSON.stringify(body)
    const headers = {
      Authorization: authorization,
      'Content-Type': 'application/json',
      ...(encoding === '' ? {} : { 'Content-Encoding': encoding }),
    }
    const response = await fetch(server.url + path, {
      method,
      headers,
      ...(text === undefined ? {} : { body: text }),
    })
    return { status: response.status, text: (await response.text()).slice(0, 300) }
  }
  const rest = (method: string, path: string, body?: unknown) =>
    ask(method, path, `Bearer ${server.token}`, body)
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

/** Another client sends requests meanwhile. */
async function whilePinging(server: Server, send: () => Promise<Reply[]>): Promise<Reply[]> {
  const over = new AbortController()
  const pinging = (async () => {
    while (!over.signal.aborted) expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
  })()
  try {
    return await send()
  } finally {
    over.abort()
    await pinging
  }
}

/** Afterwards the event loop has run its timers, and the file has their records. */
async function flushPauses(server: Server): Promise<void> {
  for (let count = 0; count < 3; count++) await fetch(`${server.url}/healthz`)
}

/** A job that this client runs as an agent. */
async function aRunningJob(server: Server): Promise<Job> {
  const cluster = String((await server.get(`${org}/clusters`)).body['0']?.['id'])
  await server.post(`${org}/clusters/${cluster}/queues`, { key: 'ours' })
  const { body: made } = await server.post(`${org}/clusters/${cluster}/tokens`, { description: 'ours' })
  const send = async (token: string, method: string, path: string, body?: object) => {
    const headers = { Authorization: `Token ${token}`, 'Content-Type': 'application/json' }
    const response = await fetch(`${server.url}/v3/${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${text}`)
    return (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>
  }
  const agent = await send(String(made['token']), 'POST', 'register', {
    name: 'ours',
    meta_data: ['queue=ours'],
  })
  const session = String(agent['access_token'])
  await send(session, 'POST', 'connect')
  const configuration = 'steps: [{command: wait, agents: {queue: ours}}]'
  await server.post(`${org}/pipelines`, {
    name: 'Ours',
    repository: 'https://git.example.com/a.git',
    configuration,
  })
  const { body: build } = await server.post(`${org}/pipelines/ours/builds`, {
    commit: 'HEAD',
    branch: 'main',
  })
  const id = String(build['jobs']?.['0']?.['id'])
  for (;;) {
    const ping = await send(session, 'GET', 'ping')
    if (ping['job'] !== undefined && ping['job'] !== null) break
  }
  const accepted = await send(session, 'PUT', `jobs/${id}/accept`)
  const token = String(accepted['token'])
  await send(token, 'PUT', `jobs/${id}/start`, { started_at: new Date().toISOString() })
  return {
    id,
    token,
    build: String(build['id']),
    buildPath: `${org}/pipelines/ours/builds/${String(build['number'])}`,
  }
}
