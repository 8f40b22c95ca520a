import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { exportJWK, generateKeyPair } from 'jose'
import { aFolder, anAgent, anAgentFor, aCounterpart } from '../../test/agent.ts'
import type { Counterpart } from '../../test/counterpart.ts'
import type { SignatureKey } from '../signing/keys.ts'
import { signStep } from '../signing/sign.ts'
import { askSocket } from '../sockets/http.ts'
import { JOB_SOCKET_PATH } from '../sockets/job-socket.ts'
import { readLock, startLockServer } from '../sockets/locks.ts'
import { openWorkplaces } from './workplaces.ts'

const waiting = { timeout: 120_000 }

async function makeKey(): Promise<SignatureKey> {
  const { privateKey } = await generateKeyPair('EdDSA', { extractable: true })
  return { ...(await exportJWK(privateKey)), kty: 'OKP', alg: 'EdDSA', kid: 'k' }
}

afterEach(() => vi.unstubAllEnvs())

/** Once the socket is there, which is made last. */
async function removeWorkplaces(folder: string): Promise<void> {
  const places = await vi.waitFor(async () => {
    const names = (await readdir(folder)).filter((name) => name.startsWith('mr-job-'))
    expect(names).not.toEqual([])
    for (const name of names) expect(await readdir(join(folder, name))).toContain('job.sock')
    return names
  }, waiting)
  for (const place of places) await rm(join(folder, place), { recursive: true })
}

describe('a place for a job', () => {
  it('leaves nothing behind when it cannot be prepared', async () => {
    const folder = await aFolder()
    vi.stubEnv('TMPDIR', folder)
    vi.stubEnv('PATH', folder)
    const countPipes = () => process.getActiveResourcesInfo().filter((name) => name.startsWith('Pipe')).length
    const before = countPipes()
    await expect(openWorkplaces(1).prepare()).rejects.toThrow('mkfifo')
    expect(await readdir(folder)).toEqual([])
    await vi.waitFor(() => expect(countPipes()).toBe(before), waiting)
  })

  it('gives each job a pipe of its own, and makes others when they are gone', async () => {
    vi.stubEnv('TMPDIR', await aFolder())
    const workplaces = openWorkplaces(2)
    const places = await Promise.all([1, 2, 3, 4, 5].map(() => workplaces.prepare()))
    expect(new Set(places.map(({ pipe }) => pipe)).size).toBe(5)
    expect(new Set(places.map(({ root }) => root)).size).toBe(1)
    for (const place of places) expect(place.isThere()).toBe(true)
    // A cleaner of temporary files takes pipes, and then the whole folder.
    const [{ root, pipe } = await workplaces.prepare()] = places
    for (const name of await readdir(root)) if (name !== 'job.sock') await rm(join(root, name))
    expect(places[0]?.isThere()).toBe(false)
    const next = await workplaces.prepare()
    expect(next.isThere()).toBe(true)
    expect(next.pipe).not.toBe(pipe)
    await rm(root, { recursive: true })
    const last = await workplaces.prepare()
    expect(last.isThere()).toBe(true)
    expect(last.makeFolder()).toBe(last.makeFolder())
    await workplaces.close()
    expect(await readdir(dirname(root))).toEqual([])
  })

  it('answers a job only with the token of that job, until the job ends', async () => {
    vi.stubEnv('TMPDIR', await aFolder())
    const workplaces = openWorkplaces(1)
    onTestFinished(() => workplaces.close())
    const [one, two] = [await workplaces.prepare(), await workplaces.prepare()]
    const api = (name: string) => ({
      env: () => ({ NAME: name }),
      setEnv: () => {},
      unsetEnv: () => {},
      setWorkdir: () => null,
      hide: () => {},
      redact: (text: string) => text,
    })
    const ask = (token: string) =>
      askSocket(one.socket.path, { method: 'GET', path: `${JOB_SOCKET_PATH}/env`, token })
    expect((await ask(one.socket.token)).status).toBe(401)
    one.socket.open(api('one'))
    two.socket.open(api('two'))
    expect(await ask(one.socket.token)).toMatchObject({ status: 200, body: { env: { NAME: 'one' } } })
    expect(await ask(two.socket.token)).toMatchObject({ status: 200, body: { env: { NAME: 'two' } } })
    await one.clear()
    expect((await ask(one.socket.token)).status).toBe(401)
    expect((await ask(two.socket.token)).status).toBe(200)
  })
})

const sizesOfChunks = (server: Counterpart, id: string) =>
  server
    .find(new RegExp(`/jobs/${id}/chunks`))
    .map(({ url }) => Number(new URL(url, 'http://server').searchParams.get('size')))

describe('a job', () => {
  it('runs its command and reports its status', async () => {
    const { server } = await anAgent()
    const passing = server.offer({ BUILDKITE_COMMAND: 'echo hi' })
    expect(await server.finished(passing)).toMatchObject({ exit_status: '0', chunks_failed_count: 0 })
    expect(server.log(passing)).toContain('\nhi\n')
    const failing = server.offer({ BUILDKITE_COMMAND: 'exit 3' })
    const report = await server.finished(failing)
    expect(report.exit_status).toBe('3')
    expect(report).not.toHaveProperty('signal')
    expect(report).not.toHaveProperty('signal_reason')
  })

  it('speaks with the token of the job', async () => {
    const { server } = await anAgent()
    const id = server.offer({ BUILDKITE_COMMAND: 'true' })
    await server.finished(id)
    const calls = server.find(new RegExp(`/jobs/${id}/(start|chunks|finish)`))
    expect(calls.length).toBeGreaterThanOrEqual(3)
    expect(new Set(calls.map(({ headers }) => headers.authorization))).toEqual(
      new Set([`Token job-token-${id}`]),
    )
    expect(server.find(/accept$/)[0]?.headers.authorization).toBe('Token session-token')
  })

  it('keeps the order of what is written to standard output and error, and lets both be opened by name', async () => {
    const { server } = await anAgent()
    const id = server.offer({
      BUILDKITE_COMMAND: 'for n in 1 2 3; do echo out$n; echo err$n >/dev/stderr; done',
    })
    await server.finished(id)
    expect(server.log(id)).toContain('out1\nerr1\nout2\nerr2\nout3\nerr3\n')
  })

  it('sends the end of the log with the report to a server that takes it there', async () => {
    const { server } = await anAgent()
    // On a slow machine, all of the log of a job may be on its way before the job ends.
    const { id, chunk } = await vi.waitFor(async () => {
      const offered = server.offer({ BUILDKITE_COMMAND: 'echo all of it' }, { takes_last_chunk: true })
      const { last_chunk: last } = await server.finished(offered)
      expect(last).toBeTruthy()
      return { id: offered, chunk: last }
    }, waiting)
    const before = sizesOfChunks(server, id)
    const offset = before.reduce((sum, size) => sum + size, 0)
    expect(chunk).toMatchObject({ sequence: before.length + 1, offset })
    const rest = gunzipSync(Buffer.from(chunk?.gzip ?? '', 'base64')).toString()
    expect(server.log(id) + rest).toMatch(/all of it\n$/)
  })

  it('sends larger chunks to a server that takes them', async () => {
    const { server } = await anAgent()
    const sizes = { chunks_max_size_bytes: 500, large_chunks_max_size_bytes: 2000 }
    const id = server.offer({ BUILDKITE_COMMAND: 'seq 1 3000' }, sizes)
    await server.finished(id)
    expect(Math.max(...sizesOfChunks(server, id))).toBe(2000)
  })

  it('passes 5 MB of output through', async () => {
    const { server } = await anAgent()
    const id = server.offer({ BUILDKITE_COMMAND: 'seq -f "line %07.0f" 1 400000' })
    expect(await server.finished(id)).toMatchObject({ exit_status: '0' })
    const lines = server
      .log(id)
      .split('\n')
      .filter((line) => line.startsWith('line '))
    expect(lines.length).toBe(400_000)
    expect(lines.at(-1)).toBe('line 0400000')
  })

  it('runs the file when the command names one of the checkout', async () => {
    const { server, folder } = await anAgent()
    const checkout = join(folder, 'builds', 'tester', 'acme', 'demo')
    await mkdir(checkout, { recursive: true })
    await writeFile(join(checkout, 'test me.sh'), '#!/bin/sh\necho "script in $(basename "$PWD")"\n')
    const id = server.offer({ BUILDKITE_COMMAND: 'test me.sh' })
    expect(await server.finished(id)).toMatchObject({ exit_status: '0' })
    expect(server.log(id)).toContain('script in demo')
  })

  it('reports 128 plus the signal that ended a command, and 255 when the shell itself died', async () => {
    const { server } = await anAgent()
    const inner = server.offer({ BUILDKITE_COMMAND: "sh -c 'kill -9 $$'; exit $?" })
    expect(await server.finished(inner)).toMatchObject({ exit_status: '137' })
    const shell = server.offer({ BUILDKITE_COMMAND: 'kill -9 $$; true' })
    expect((await server.finished(shell)).exit_status).toBe('255')
  })

  it('fails with status 1 when a variable it needs is missing, or when there is nothing to run', async () => {
    const { server } = await anAgent()
    const missing = server.offer({ BUILDKITE_COMMAND: 'true', BUILDKITE_PIPELINE_PROVIDER: '' })
    expect((await server.finished(missing)).exit_status).toBe('1')
    expect(server.log(missing)).toContain('Missing BUILDKITE_PIPELINE_PROVIDER')
    const empty = server.offer({ BUILDKITE_COMMAND: ' ' })
    expect((await server.finished(empty)).exit_status).toBe('1')
  })

  it('runs although what was prepared for it is gone, as temporary files may be', async () => {
    const temporary = await aFolder()
    vi.stubEnv('TMPDIR', temporary)
    const { server, pool } = await anAgent()
    await pool.connected
    await removeWorkplaces(temporary)
    const id = server.offer({ BUILDKITE_COMMAND: 'echo still here' })
    expect(await server.finished(id)).toMatchObject({ exit_status: '0' })
    expect(server.log(id)).toContain('still here')
  })

  it('has locks also after another process that was the lock server has ended', async () => {
    const socketsPath = await aFolder()
    const other = await startLockServer(socketsPath)
    const { server } = await anAgent({ socketsPath })
    await server.finished(server.offer({ BUILDKITE_COMMAND: 'true' }))
    other?.close()
    await server.finished(server.offer({ BUILDKITE_COMMAND: 'true' }))
    expect(await readLock({ socketsPath, token: null }, 'a key')).toBe('')
  })

  it('is reported as not run when nothing can be prepared for it', async () => {
    const temporary = await aFolder()
    vi.stubEnv('TMPDIR', temporary)
    const { server, pool } = await anAgent()
    await pool.connected
    await removeWorkplaces(temporary)
    vi.stubEnv('TMPDIR', join(temporary, 'no', 'such', 'folder'))
    const refused = server.offer({ BUILDKITE_COMMAND: 'true' })
    expect(await server.finished(refused)).toMatchObject({
      exit_status: '-1',
      signal_reason: 'process_run_error',
    })
    expect(server.log(refused)).toContain('Error: ENOENT')
    vi.stubEnv('TMPDIR', temporary)
    const next = server.offer({ BUILDKITE_COMMAND: 'true' })
    expect(await server.finished(next)).toMatchObject({ exit_status: '0' })
  })

  it('is reported also when the answer to its start never came', async () => {
    const { server } = await anAgent()
    server.answer(/^PUT .*start$/, () => ({ status: 503, body: {} }))
    const id = server.offer({ BUILDKITE_COMMAND: 'true' })
    expect(await server.finished(id)).toMatchObject({
      exit_status: '-1',
      signal_reason: 'process_run_error',
    })
  })

  it('refuses a signed step, because it has no key', async () => {
    const { server } = await anAgent()
    const signature = { algorithm: 'EdDSA', signed_fields: ['command'], value: 'x' }
    const id = server.offer({ BUILDKITE_COMMAND: 'true' }, { step: { signature } })
    expect(await server.finished(id)).toMatchObject({
      exit_status: '-1',
      signal_reason: 'signature_rejected',
    })
  })

  it('abuse case R32: refuses a step without a valid signature if it has keys, and only warns if configured to', async () => {
    const [key, other] = [await makeKey(), await makeKey()]
    const command = 'echo "ran it"'
    const sign = async (by: SignatureKey) => {
      const surroundings = { repositoryUrl: 'none', env: {} }
      const step = { command, checkout: { skip: true } }
      return { step: { ...step, signature: await signStep(step, surroundings, by) } }
    }
    const env = { BUILDKITE_COMMAND: command, BUILDKITE_REPO: 'none' }
    const strict = await anAgent({ verificationKeys: [key] })
    const good = strict.server.offer(env, await sign(key))
    expect(await strict.server.finished(good)).toMatchObject({ exit_status: '0' })
    expect(strict.server.log(good)).toContain('Job signature verified')
    for (const wrong of [{ step: { command } }, await sign(other)]) {
      const id = strict.server.offer(env, wrong)
      expect(await strict.server.finished(id)).toMatchObject({
        exit_status: '-1',
        signal_reason: 'signature_rejected',
      })
      expect(strict.server.log(id)).not.toContain('\nran it\n')
    }
    const lenient = await anAgent({ verificationKeys: [key], verificationFailure: 'warn' })
    const warned = lenient.server.offer(env, await sign(other))
    expect(await lenient.server.finished(warned)).toMatchObject({ exit_status: '0' })
    expect(lenient.server.log(warned)).toContain('Job signature verification failed')
  })

  it('drops the job without a word when it may not start', async () => {
    const { server } = await anAgent()
    server.answer(/start$/, () => ({ status: 422, body: { message: 'canceled' } }))
    const dropped = server.offer({ BUILDKITE_COMMAND: 'true' })
    await server.heard(new RegExp(`/jobs/${dropped}/start`))
    await server.heard(/GET \/v3\/ping/, server.find(/GET \/v3\/ping/).length + 1)
    expect(server.find(/finish$/)).toEqual([])
  })

  it('ends processes left in the background', async () => {
    const { server, folder } = await anAgent()
    const id = server.offer({ BUILDKITE_COMMAND: `sleep 1000 & echo $! > ${folder}/pid` })
    await server.finished(id)
    const pid = Number(await readFile(join(folder, 'pid'), 'utf8'))
    expect(await isRunning(pid)).toBe(false)
  })
})

describe('the environment of a job', () => {
  it('has the variables of the job and of the agent, and nothing of the agent process', async () => {
    process.env['MILLRACE_TEST_LEAK'] = 'leaked'
    const { server } = await anAgent()
    const command =
      'echo "[$ANSWER|$MILLRACE_TEST_LEAK|$BUILDKITE_AGENT_ENDPOINT|$BUILDKITE_BUILD_CHECKOUT_PATH]"; command -v buildkite-agent'
    const id = server.offer({ BUILDKITE_COMMAND: command, ANSWER: '42' })
    await server.finished(id)
    delete process.env['MILLRACE_TEST_LEAK']
    expect(server.log(id)).toMatch(/\[42\|\|http:\/\/127\.0\.0\.1:\d+\/v3\|.*\/builds\/tester\/acme\/demo\]/)
    expect(server.log(id)).toContain('/buildkite-agent\n')
  })

  it('lets no job change what belongs to the agent, and says so', async () => {
    const { server } = await anAgent()
    const id = server.offer({
      BUILDKITE_COMMAND: 'echo "hooks: $BUILDKITE_HOOKS_PATH"',
      BUILDKITE_HOOKS_PATH: '/evil',
    })
    await server.finished(id)
    expect(server.log(id)).toContain('were ignored: BUILDKITE_HOOKS_PATH')
    expect(server.log(id)).not.toContain('hooks: /evil')
  })

  it('hides secrets from the log, also those of the step', async () => {
    const { server } = await anAgent()
    server.answer(/secrets\?key=deploy/, () => ({
      status: 200,
      body: { key: 'deploy', value: 'swordfish-99', uuid: 'u' },
    }))
    const id = server.offer(
      {
        BUILDKITE_COMMAND:
          'echo "$DB_PASSWORD|$DEPLOY"; printf %s "$DEPLOY" | base64; env | grep ACCESS_TOKEN',
        DB_PASSWORD: 'hunter2hunter2',
      },
      { step: { secrets: [{ key: 'deploy', environment_variable: 'DEPLOY' }] } },
    )
    expect((await server.finished(id)).exit_status).toBe('0')
    expect(server.log(id)).toContain('[REDACTED]|[REDACTED]\n[REDACTED]\n')
    expect(server.log(id)).not.toContain(`job-token-${id}`)
    expect(server.log(id)).not.toContain('swordfish')
  })

  it('does not begin when a secret cannot be had', async () => {
    const { server } = await anAgent()
    server.answer(/secrets\?key=/, () => ({ status: 404, body: { message: 'No secret found' } }))
    const id = server.offer({ BUILDKITE_COMMAND: 'echo ran' }, { step: { secrets: [{ key: 'gone' }] } })
    expect(await server.finished(id)).toMatchObject({ exit_status: '-1', signal_reason: 'process_run_error' })
    expect(server.log(id)).not.toContain('\nran\n')
  })
})

describe('cancel', () => {
  it('signals the whole process group and reports the signal', async () => {
    const { server, folder } = await anAgent()
    const id = server.offer({
      BUILDKITE_COMMAND: `sh -c 'echo $$ > ${folder}/pid; echo ready; sleep 1000'; true`,
    })
    await server.logHas(id, '\nready\n')
    server.jobState = 'canceling'
    expect(await server.finished(id)).toMatchObject({
      exit_status: '-1',
      signal: 'SIGTERM',
      signal_reason: 'cancel',
    })
    const pid = Number(await readFile(join(folder, 'pid'), 'utf8'))
    expect(await isRunning(pid)).toBe(false)
  })

  it('kills what does not listen, when the grace is over', async () => {
    const { server } = await anAgent({ cancelGraceSeconds: 3 })
    const id = server.offer({
      BUILDKITE_COMMAND: "trap '' TERM; echo ready; while true; do sleep 0.05; done",
    })
    await server.logHas(id, '\nready\n')
    server.jobState = 'canceling'
    expect(await server.finished(id)).toMatchObject({
      exit_status: '-1',
      signal: 'SIGKILL',
      signal_reason: 'cancel',
    })
  })

  it('reports a timeout to the later hooks, and runs them', async () => {
    const { server, hooks } = await anAgent()
    await writeFile(
      join(hooks, 'pre-exit'),
      'echo "timed out: $BUILDKITE_JOB_TIMED_OUT, canceled: $BUILDKITE_JOB_CANCELLED"',
    )
    const id = server.offer({ BUILDKITE_COMMAND: 'echo ready; sleep 1000' })
    await server.logHas(id, '\nready\n')
    server.jobState = 'timing_out'
    expect(await server.finished(id)).toMatchObject({
      exit_status: '-1',
      signal: 'SIGTERM',
      signal_reason: 'cancel',
    })
    expect(server.log(id)).toContain('timed out: true, canceled: true')
  })

  it('finds processes that left their group', async () => {
    const { server, folder } = await anAgent()
    const id = server.offer({
      BUILDKITE_COMMAND: `setsid sh -c 'echo $$ > ${folder}/pid; sleep 1000' & until [ -s ${folder}/pid ]; do sleep 0.01; done; echo ready; wait`,
    })
    await server.logHas(id, '\nready\n')
    server.jobState = 'canceling'
    await server.finished(id)
    const pid = Number(await readFile(join(folder, 'pid'), 'utf8'))
    // The process was signaled, and may still be ending on a busy machine.
    await vi.waitFor(async () => expect(await isRunning(pid)).toBe(false), waiting)
  })

  it('stops the job when its token is no longer good', async () => {
    const { server } = await anAgent()
    const id = server.offer({ BUILDKITE_COMMAND: 'echo ready; sleep 1000' })
    await server.logHas(id, '\nready\n')
    server.answer(new RegExp(`^GET /v3/jobs/${id}$`), () => ({ status: 401, body: { message: 'no' } }))
    expect(await server.finished(id)).toMatchObject({ signal_reason: 'cancel' })
  })

  it('gives the job back as stopped when the agent must end', async () => {
    const { server, pool } = await anAgent()
    const id = server.offer({ BUILDKITE_COMMAND: 'echo ready; sleep 1000' })
    await server.logHas(id, '\nready\n')
    await pool.stop('force')
    expect(await server.finished(id)).toMatchObject({ exit_status: '-1', signal_reason: 'agent_stop' })
    expect(server.find(/disconnect$/)).toHaveLength(1)
  })
})

describe('a server that goes away', () => {
  it('loses no line and gets the end of the job when it is back', async () => {
    const server = await aCounterpart()
    const { folder } = await anAgentFor(server)
    const command = `for n in $(seq 1 60); do echo line $n; sleep 0.005; done; touch ${folder}/done; echo last`
    const id = server.offer({ BUILDKITE_COMMAND: command }, { chunks_max_size_bytes: 500 })
    await server.logHas(id, 'line 20\n')
    await server.crash()
    for (;;) if (await stat(join(folder, 'done')).catch(() => null)) break
    await server.reopen()
    expect(await server.finished(id)).toMatchObject({ exit_status: '0', chunks_failed_count: 0 })
    const lines = server.log(id).match(/^line \d+$/gm)
    expect(lines).toEqual(Array.from({ length: 60 }, (_, index) => `line ${index + 1}`))
    expect(server.log(id)).toContain('last\n')
  })

  it('is asked again after errors of its own, but not after a refusal', async () => {
    const { server } = await anAgent()
    let count = 0
    server.answer(/chunks/, () => {
      count += 1
      return count <= 2 ? { status: 503 } : null
    })
    server.answer(/finish$/, () => (server.find(/finish$/).length === 1 ? { status: 500 } : null))
    const id = server.offer({ BUILDKITE_COMMAND: 'echo hi' })
    await server.heard(/finish$/, 2)
    expect(server.log(id)).toContain('hi\n')
    server.answer(/chunks/, () => ({ status: 413, body: { message: 'too large' } }))
    const lost = server.offer({ BUILDKITE_COMMAND: 'echo hi' })
    const { chunks_failed_count: failed } = await server.finished(lost)
    expect(failed).toBeGreaterThan(0)
  })
})

/** A zombie may still be listed. */
async function isRunning(pid: number): Promise<boolean> {
  const line = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  return line !== null && !line.includes(') Z ')
}

describe('abuse case 20: secrets in the log of a job', () => {
  const key = [
    '-----BEGIN KEY-----',
    'MIIEpAIBAAKCAQEA7bq',
    'q9v+Z/8sV0hKJ1xWn3==',
    '-----END KEY-----',
  ].join('\n')
  const command = String.raw`
    echo "$DEPLOY_PRIVATE_KEY"
    printf '%s\n' "$DEPLOY_PRIVATE_KEY" | sed -n 2p
    printf '%s' "$DEPLOY_PRIVATE_KEY" | base64
    printf '%s' "$DEPLOY_PRIVATE_KEY" | base64 | tr -d '\n='; echo
    printf 'user:%s' "$LONG_PASSWORD" | base64
    printf 'x:%s:y' "$LONG_PASSWORD" | base64
    printf '%s' "$LONG_PASSWORD" | base64 | tr '+/' '-_'
    for n in $(seq 0 29); do printf '%s' "\${LONG_PASSWORD:$n:1}"; sleep 0.01; done; echo
    env | grep -E 'TOKEN|KEY|PASSWORD'`

  it('are hidden whole, line by line, in every usual base64, and however slowly they are written', async () => {
    const { server } = await anAgent()
    const password = 'correct horse/battery?staple>>1'
    const id = server.offer({
      BUILDKITE_COMMAND: command,
      DEPLOY_PRIVATE_KEY: key,
      LONG_PASSWORD: password,
    })
    expect((await server.finished(id)).exit_status).toBe('0')
    const log = server.log(id)
    const base64 = (text: string) => Buffer.from(text).toString('base64')
    const steady = (text: string) => base64(text).replaceAll('=', '').slice(4, -4)
    for (const leak of [
      ...key.split('\n'),
      steady(key),
      password,
      steady(password),
      base64(`user:${password}`).slice(8, -6),
      base64(`x:${password}:y`).slice(8, -8),
      `job-token-${id}`,
    ]) {
      expect(log).not.toContain(leak)
    }
    expect(log.split('[REDACTED]').length).toBeGreaterThan(8)
  })
})
