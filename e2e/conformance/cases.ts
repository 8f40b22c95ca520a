// The conformance cases that every agent must pass with this server. Cases are independent and run concurrently.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect } from 'vitest'
import type { Json } from '../millrace.ts'
import type { AgentProcess, Bench } from './bench.ts'
import type { Interception } from './http-fault-proxy.ts'
import type { Build, Site } from './site.ts'

export interface Case {
  name: string
  run(bench: Bench): Promise<void>
}

const one = (command: string, more: object = {}) => [{ key: 'one', command, ...more }]

/** A command that blocks its job until the test opens the gate. */
function aGate(bench: Bench): { command: string; open(): void } {
  const file = join(bench.site.aFolder(), 'gate')
  writeFileSync(file, '')
  return { command: `while [ -e ${file} ]; do sleep 0.1; done`, open: () => rmSync(file) }
}

/** Returns the log, and shows it if the job did not pass. */
export async function passed(bench: Bench, build: Build, step: string): Promise<string> {
  const job = await bench.site.ended(build, step)
  const log = await bench.site.log(build, job)
  expect({ state: String(job.state), log }).toMatchObject({ state: 'passed' })
  return log
}

const ending = ({ state, exit_status, signal, signal_reason }: Json) => ({
  state,
  exit_status,
  signal,
  signal_reason,
})

// The longest come first, so that the others run meanwhile.
export const cases: readonly Case[] = [
  {
    name: 'no answer and 503 during a job: no line of the log is lost',
    async run(bench) {
      const proxy = await bench.faultProxy()
      const pingMode = bench.mode === 'polling' ? 'poll-only' : 'auto'
      const agent = await bench.start('outage', { endpoint: proxy.endpoint, pingMode })
      const [gate, exit] = [aGate(bench), aGate(bench)]
      const build = await bench.build(
        one(`${count(60)}; ${gate.command}; echo 000061; ${exit.command}`),
        agent,
      )
      await bench.site.says(build, 'one', '000003')
      proxy.dropConnections()
      gate.open()
      await bench.site.until('the agent is refused', async () => proxy.drops >= 2)
      proxy.fail()
      await bench.site.until('the agent gets a 503', async () =>
        proxy.seen.some(({ path, status }) => path.endsWith('/chunks') && status === 503),
      )
      // A job that ends earlier sends its last lines with its exit status, not as a chunk.
      exit.open()
      proxy.recover()
      const job = await bench.site.ended(build, 'one')
      expect(job).toMatchObject({ state: 'passed', exit_status: 0 })
      expect(numbersIn(await bench.site.log(build, job), 6)).toEqual(upTo(61))
    },
  },
  {
    name: 'the first answers to accept, start and finish are lost',
    async run(bench) {
      const proxy = await bench.faultProxy()
      const lost = new Set<string>()
      proxy.loseAnswersTo(({ url = '' }) => {
        const verb = /\/(accept|start|finish)$/.exec(url)?.[1]
        if (verb === undefined || lost.has(verb)) return null
        lost.add(verb)
        return verb === 'accept' ? 'no answer' : '500'
      })
      const agent = await bench.start('deaf', { endpoint: proxy.endpoint })
      const build = await bench.build(one('echo once'), agent)
      expect(await passed(bench, build, 'one')).toContain('once')
      expect(await bench.site.ended(await bench.build(one('true'), agent), 'one')).toMatchObject({
        state: 'passed',
      })
      expect([...lost]).toEqual(expect.arrayContaining(['accept', 'finish']))
    },
  },
  {
    name: 'idle until it is asked to disconnect',
    async run(bench) {
      const agent = await bench.start('idle')
      const { id } = await bench.site.agent(`${agent.name}-1`, 'connected')
      await bench.site.put(`/agents/${String(id)}/stop`, { force: false })
      expect((await agent.ended).code).toBe(0)
      await bench.site.agent(`${agent.name}-1`, 'stopped')
    },
  },
  {
    name: 'echo, exit 0',
    async run(bench) {
      const build = await bench.build(one('echo "hello from $BUILDKITE_BRANCH"; cat README'))
      const log = await passed(bench, build, 'one')
      expect(log).toContain('hello from main')
      expect(log).toContain('A repository for tests.')
      expect(log).not.toContain('protected environment')
    },
  },
  {
    name: 'exit 3',
    async run(bench) {
      const build = await bench.build(one('exit 3'))
      expect(await bench.site.ended(build, 'one')).toMatchObject({ state: 'failed', exit_status: 3 })
    },
  },
  {
    name: '5 MB of output',
    async run(bench) {
      const [lines, digits] = [41_000, 127]
      const build = await bench.build(one(`seq -f '%0${digits}.0f' 1 ${lines}`))
      const job = await bench.site.ended(build, 'one')
      expect(job).toMatchObject({ state: 'passed', exit_status: 0 })
      const numbers = numbersIn(await bench.site.log(build, job), digits)
      expect(numbers).toHaveLength(lines)
      expect(numbers.every((number, index) => number === index + 1)).toBe(true)
    },
  },
  {
    name: 'cancel while running',
    async run(bench) {
      const build = await bench.build(one('echo re""ady; sleep 600'))
      const { id } = await bench.site.says(build, 'one', 'ready')
      await bench.site.put(`${build.path}/jobs/${String(id)}/cancel`, {})
      expect(ending(await bench.site.ended(build, 'one'))).toEqual({
        state: 'canceled',
        exit_status: -1,
        signal: 'SIGTERM',
        signal_reason: 'cancel',
      })
    },
  },
  {
    name: 'timeout',
    async run(bench) {
      const build = await bench.build(one('sleep 600', { timeout_in_minutes: 1 }))
      await bench.site.passTimeLimit(await bench.site.running(build, 'one'))
      expect(ending(await bench.site.ended(build, 'one'))).toEqual({
        state: 'timed_out',
        exit_status: -1,
        signal: 'SIGTERM',
        signal_reason: 'cancel',
      })
    },
  },
  anArtifact('of 0 bytes', { 'empty.txt': '' }),
  anArtifact('of 1 byte', { 'one.bin': '!' }),
  anArtifact('with a space and a slash in its path', { 'a folder/of mine.txt': 'found it' }),
  anArtifact(
    '31 files',
    Object.fromEntries(Array.from({ length: 31 }, (_, n) => [`f/${n}.txt`, `file ${n}`])),
  ),
  {
    name: 'pipeline upload: 200',
    async run(bench) {
      const build = await bench.build(one(upload({ key: 'two', command: 'echo uploaded' })))
      expect(await bench.site.ended(build, 'two')).toMatchObject({ state: 'passed' })
    },
  },
  {
    name: 'pipeline upload: 202',
    async run(bench) {
      const proxy = await bench.faultProxy()
      proxy.interceptWith(answerLater(bench.site.server.url))
      const agent = await bench.start('later', { endpoint: proxy.endpoint })
      const build = await bench.build(one(upload({ key: 'two', command: 'true' }, agent.queue)), agent)
      expect(await bench.site.ended(build, 'two')).toMatchObject({ state: 'passed' })
      const uploads = proxy.seen.filter(({ path }) => path.includes('/pipelines'))
      expect(uploads.map(({ method, status }) => `${method} ${status}`)).toEqual([
        'POST 202',
        'GET 200',
        'GET 200',
      ])
    },
  },
  {
    name: 'pipeline upload: 422',
    async run(bench) {
      const build = await bench.build(one(upload({ key: 'two', command: 'true', depends_on: 'two' })))
      const job = await bench.site.ended(build, 'one')
      expect(job).toMatchObject({ state: 'failed', exit_status: 1 })
      expect(await bench.site.log(build, job)).toMatch(/depends on itself|cycle|circle/i)
    },
  },
  {
    name: 'meta-data: 404, with a default and without',
    async run(bench) {
      const build = await bench.build(
        one(`set -e
          echo "got $(buildkite-agent meta-data get nothing --default fallback)"
          if buildkite-agent meta-data get nothing; then exit 9; fi
          if buildkite-agent meta-data exists nothing; then exit 8; else test $? = 100; fi
          buildkite-agent meta-data set some.key 'some value'
          test "$(buildkite-agent meta-data get some.key)" = 'some value'
          buildkite-agent meta-data exists some.key
          buildkite-agent meta-data keys | grep -qx some.key`),
      )
      expect(await passed(bench, build, 'one')).toContain('got fallback')
      expect((await bench.site.get(build.path)).meta_data).toMatchObject({ 'some.key': 'some value' })
    },
  },
  {
    name: 'annotations with . and / in their contexts',
    async run(bench) {
      const build = await bench.build(
        one(`set -e
          buildkite-agent annotate 'kept' --context 'release/1.0.x' --style info
          buildkite-agent annotate ' and more' --context 'release/1.0.x' --append
          buildkite-agent annotate 'gone' --context '../2.0/./y' --style error
          buildkite-agent annotation remove --context '../2.0/./y'`),
      )
      await passed(bench, build, 'one')
      const annotations = Object.values(await bench.site.get(`${build.path}/annotations`))
      expect(annotations).toMatchObject([{ context: 'release/1.0.x', style: 'info' }])
      expect(String(annotations[0]?.body_html)).toContain('kept and more')
    },
  },
  {
    name: 'two spawned agents, both at work',
    async run(bench) {
      const agent = await bench.start('two', { flags: ['--spawn', '2'] })
      const folder = bench.site.aFolder()
      const meet = `touch ${folder}/$BUILDKITE_STEP_KEY; while ! [ -e ${folder}/one -a -e ${folder}/two ]; do sleep 0.1; done`
      const build = await bench.build(
        ['one', 'two'].map((key) => ({ key, command: meet })),
        agent,
      )
      const jobs = await Promise.all(['one', 'two'].map((key) => bench.site.ended(build, key)))
      expect(jobs).toMatchObject([{ state: 'passed' }, { state: 'passed' }])
      const names = jobs.map((job) => String(job.agent?.name)).toSorted()
      expect(names).toEqual([`${agent.name}-1`, `${agent.name}-2`])
    },
  },
  {
    name: 'acquire: 422',
    async run(bench) {
      const build = await bench.build(one('true'))
      const { id } = await bench.site.ended(build, 'one')
      const agent = await bench.start('gone', { flags: ['--acquire-job', String(id)] })
      expect((await agent.ended).code).toBe(27)
    },
  },
  {
    name: 'acquire: 423, and the job once it can run',
    async run(bench) {
      const gate = aGate(bench)
      const agents = { queue: await bench.emptyQueue('nobody') }
      const build = await bench.build([
        ...one(gate.command),
        { key: 'two', command: 'true', depends_on: 'one', agents },
      ])
      await bench.site.running(build, 'one')
      const two = await bench.site.job(build, 'two', 'waits', (job) => String(job.state) === 'waiting')
      const proxy = await bench.faultProxy()
      const agent = await bench.start('patient', {
        endpoint: proxy.endpoint,
        flags: ['--acquire-job', String(two.id)],
      })
      await bench.site.until('the job is not to be had yet', async () =>
        proxy.seen.some(({ path, status }) => path.endsWith('/acquire') && status === 423),
      )
      gate.open()
      expect(await bench.site.ended(build, 'two')).toMatchObject({ state: 'passed' })
      expect((await agent.ended).code).toBe(0)
    },
  },
  {
    name: 'force stop',
    async run(bench) {
      const agent = await bench.start('stopped')
      const build = await bench.build(one('echo re""ady; sleep 600'), agent)
      await bench.site.says(build, 'one', 'ready')
      const { id } = await bench.site.agent(`${agent.name}-1`, 'connected')
      await bench.site.put(`/agents/${String(id)}/stop`, { force: true })
      expect(await bench.site.ended(build, 'one')).toMatchObject({ state: 'canceled', exit_status: -1 })
      expect((await agent.ended).code).toBe(0)
      await bench.site.agent(`${agent.name}-1`, 'stopped')
    },
  },
  {
    name: 'the job token after finish: 401',
    async run(bench) {
      const file = join(bench.site.aFolder(), 'token')
      const gate = aGate(bench)
      const write = `printf %s "$BUILDKITE_AGENT_ACCESS_TOKEN" > ${file}.part && mv ${file}.part ${file}`
      const build = await bench.build(one(`${write}; ${gate.command}`))
      const { id } = await bench.site.running(build, 'one')
      await bench.site.until('the token is there', async () => existsSync(file))
      const ask = async () => {
        const headers = { Authorization: `Token ${readFileSync(file, 'utf8')}` }
        return (await fetch(`${bench.site.server.url}/v3/jobs/${String(id)}`, { headers })).status
      }
      expect(await ask()).toBe(200)
      gate.open()
      const job = await bench.site.ended(build, 'one')
      expect(await ask()).toBe(401)
      expect(await bench.site.log(build, job)).not.toContain(readFileSync(file, 'utf8'))
    },
  },
  {
    name: 'SIGTERM lets the job end',
    async run(bench) {
      const agent = await bench.start('graceful')
      const gate = aGate(bench)
      const build = await bench.build(one(`echo re""ady; ${gate.command}; echo done`), agent)
      await bench.site.says(build, 'one', 'ready')
      agent.signal('SIGTERM')
      await bench.site.until('the agent has heard it', async () =>
        /gracefully|forcefully/i.test(textOf(agent)),
      )
      if (bench.reportsStop) await bench.site.agent(`${agent.name}-1`, 'stopping')
      gate.open()
      expect(await passed(bench, build, 'one')).toContain('done')
      expect((await agent.ended).code).toBe(0)
      await bench.site.agent(`${agent.name}-1`, bench.reportsStop ? 'stopped' : 'disconnected')
    },
  },
  {
    name: 'SIGTERM twice ends the job as stopped',
    async run(bench) {
      const agent = await bench.start('hasty')
      const build = await bench.build(one('echo re""ady; sleep 600'), agent)
      await bench.site.says(build, 'one', 'ready')
      agent.signal('SIGTERM')
      await bench.site.until('the agent has heard it', async () =>
        /gracefully|forcefully/i.test(textOf(agent)),
      )
      agent.signal('SIGTERM')
      expect(ending(await bench.site.ended(build, 'one'))).toEqual({
        state: 'failed',
        exit_status: -1,
        signal: 'SIGTERM',
        signal_reason: 'agent_stop',
      })
      await agent.ended
    },
  },
  {
    name: 'hooks of the agent',
    async run(bench) {
      const agent = await bench.start('hooked', {
        hooks: {
          environment: 'export FROM_HOOK="set by a hook"',
          'pre-command': 'echo "before: $FROM_HOOK"',
          'post-command': 'echo "after: $BUILDKITE_COMMAND_EXIT_STATUS"',
          'pre-exit': 'echo "at the end: $BUILDKITE_STEP_KEY"',
        },
      })
      const build = await bench.build(one('echo "command: $FROM_HOOK"; exit 7'), agent)
      const job = await bench.site.ended(build, 'one')
      expect(job).toMatchObject({ state: 'failed', exit_status: 7 })
      const log = await bench.site.log(build, job)
      const said = ['before: set by a hook', 'command: set by a hook', 'after: 7', 'at the end: one']
      expect(said.filter((line) => !log.includes(line))).toEqual([])
    },
  },
  {
    name: 'commands of the agent inside a job',
    async run(bench) {
      await bench.secret('deploy_key', 'swordfish-99')
      const build = await bench.build(
        one(
          `set -e
          test "$(buildkite-agent step get label)" = 'At first'
          buildkite-agent step update label 'At last'
          test "$(buildkite-agent secret get deploy_key)" = sword""fish-99
          echo "the secret is $(buildkite-agent secret get deploy_key)"
          buildkite-agent oidc request-token --audience them --skip-redaction | tr . '\n' | wc -l
          printf battery-staple | buildkite-agent redactor add
          echo "hidden: battery-""staple"
          printf '{"ADDED":"later"}' | buildkite-agent env set --input-format=json -
          test "$(buildkite-agent env get ADDED)" = later`,
          { label: 'At first' },
        ),
      )
      const log = await passed(bench, build, 'one')
      expect(log).toContain('the secret is [REDACTED]')
      expect(log).toContain('hidden: [REDACTED]')
      expect(log).not.toContain('swordfish-99')
      expect(await bench.site.ended(build, 'one')).toMatchObject({ name: 'At last' })
    },
  },
]

/** Not among the cases, because it needs a server with a short limit for lost agents. */
export async function loseAgents(site: Site, benches: readonly Bench[]): Promise<void> {
  const gates = benches.map(aGate)
  const agents = await Promise.all(benches.map((bench) => bench.start('lost')))
  const builds = await Promise.all(
    benches.map((bench, index) => bench.build(one(`echo re""ady; ${gates[index]?.command}`), agents[index])),
  )
  await Promise.all(builds.map((build) => site.says(build, 'one', 'ready')))
  for (const agent of agents) agent.killGroup()
  for (const build of builds) {
    expect(ending(await site.ended(build, 'one'))).toEqual({
      state: 'failed',
      exit_status: -1,
      signal: null,
      signal_reason: null,
    })
  }
  for (const agent of agents) await site.agent(`${agent.name}-1`, 'lost')
  // The commands outlive their agents.
  for (const gate of gates) gate.open()
}

/** Needs a server with a short limit for lost agents. */
export async function loseEveryAnswer(site: Site, benches: readonly Bench[]): Promise<void> {
  for (const bench of benches.filter(({ mode }) => mode === 'streaming')) {
    const proxy = await bench.faultProxy()
    const started = new Set<string>()
    // Refusals and the next job pass through.
    proxy.loseAnswersTo(({ url = '' }, status) => {
      if (status !== 200 || !url.endsWith('/accept') || (started.size > 0 && !started.has(url))) return null
      started.add(url)
      return '500'
    })
    const agent = await bench.start('deaf', { endpoint: proxy.endpoint })
    const group = { concurrency: 1, concurrency_group: `deaf/${bench.mode}` }
    const build = await bench.build(one('true', group), agent)
    expect(ending(await site.ended(build, 'one'))).toEqual({
      state: 'failed',
      exit_status: -1,
      signal: null,
      signal_reason: null,
    })
    const next = await bench.build(one('true', group), agent)
    expect(await site.ended(next, 'one')).toMatchObject({ state: 'passed' })
  }
}

/** Not among the cases, because it kills the server. */
export async function surviveCrash(site: Site, benches: readonly Bench[]): Promise<void> {
  const gates = benches.map(aGate)
  const builds = await Promise.all(
    benches.map((bench, index) => bench.build(one(`${count(20)}; ${gates[index]?.command}; echo 000021`))),
  )
  await Promise.all(builds.map((build) => site.says(build, 'one', '000020')))
  await site.crash()
  for (const gate of gates) gate.open()
  for (const build of builds) {
    const job = await site.ended(build, 'one')
    expect(job).toMatchObject({ state: 'passed', exit_status: 0 })
    expect(numbersIn(await site.log(build, job), 6)).toEqual(upTo(21))
  }
}

function anArtifact(title: string, files: Readonly<Record<string, string>>): Case {
  return {
    name: `artifact: ${title}`,
    async run(bench) {
      const write = Object.entries(files).map(([path, content]) => {
        const folder = path.includes('/') ? `mkdir -p '${path.slice(0, path.lastIndexOf('/'))}'; ` : ''
        return `${folder}printf %s '${content}' > '${path}'`
      })
      const build = await bench.build([
        { key: 'one', command: write.join('\n'), artifact_paths: Object.keys(files).join(';') },
        {
          key: 'two',
          depends_on: 'one',
          command: `mkdir -p got; cd got; rm -rf ./*; buildkite-agent artifact download '*' . ; find . -type f | wc -l`,
        },
      ])
      expect(await passed(bench, build, 'two')).toMatch(
        new RegExp(`^\\s*${Object.keys(files).length}\\s*$`, 'm'),
      )
      await expectArtifacts(bench, build, files)
    },
  }
}

async function expectArtifacts(
  bench: Bench,
  build: Build,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  const listed = Object.values(await bench.site.get(`${build.path}/artifacts?per_page=100`))
  expect(listed.map(({ path }) => String(path)).toSorted()).toEqual(Object.keys(files).toSorted())
  for (const artifact of listed) {
    const content = files[String(artifact.path)] ?? ''
    const hash = createHash('sha1').update(content).digest('hex')
    expect(artifact).toMatchObject({ state: 'finished', file_size: content.length, sha1sum: hash })
    const path = `${build.path}/jobs/${String(artifact.job_id)}/artifacts/${String(artifact.id)}/download`
    expect((await bench.site.bytes(path)).toString()).toBe(content)
  }
}

/** Uploads a step for the shared agents, unless another queue is named. */
function upload(step: object, queue = 'shared'): string {
  const steps = JSON.stringify({ agents: { queue }, steps: [step] })
  return `printf %s '${steps}' | buildkite-agent pipeline upload`
}

/** Acts like a server that applies uploads later, and is not done at the first question. */
function answerLater(server: string): Interception {
  const asked = new Set<string>()
  return async (request, response) => {
    const { method, url = '', headers } = request
    if (method === 'POST' && url.includes('/pipelines')) {
      const body = await text(request)
      const { authorization = '' } = headers
      const answer = await fetch(server + url, { method, body, headers: { authorization } })
      expect(answer.status).toBe(200)
      const { uuid } = JSON.parse(body) as { uuid: string }
      const location = `${url.split('?')[0] ?? ''}/${uuid}`
      response.writeHead(202, { Location: location, 'Retry-After': '0.1' }).end()
      return true
    }
    if (!url.includes('/pipelines/') || asked.has(url)) return false
    asked.add(url)
    response.writeHead(200).end('{"state":"processing","message":""}')
    return true
  }
}

const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1)

/** Prints numbers of six digits, 20 a second. */
const count = (last: number) => `for n in $(seq -f %06.0f 1 ${last}); do echo $n; sleep 0.05; done`

const textOf = (agent: AgentProcess) => `${agent.output().stdout}${agent.output().stderr}`

/** The numbers on lines that hold just one number of so many digits. */
function numbersIn(log: string, digits: number): number[] {
  const line = new RegExp(`^\\d{${digits}}$`)
  return log
    .split(/\r?\n/)
    .map((text) => text.trim())
    .filter((text) => line.test(text))
    .map(Number)
}
