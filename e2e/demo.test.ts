import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { aDirectory, aDataDirectory, eventually, startServer, stop, theServer } from './millrace.ts'

const demo = '/v2/organizations/default/pipelines/demo/builds'

describe('the first build', () => {
  it('of the demo pipeline runs on the local agent and is green', async () => {
    const server = theServer()
    const created = await server.post(demo, { commit: 'HEAD', branch: 'main', message: 'First' })
    // An agent that waits may have it before the answer is written.
    expect([created.status, created.body.state]).toEqual([
      201,
      expect.stringMatching(/^(scheduled|running)$/),
    ])
    const build = await eventually('the build ends', async () => {
      const { body } = await server.get(`${demo}/${String(created.body.number)}`)
      return body.finished_at !== null && body
    })
    expect(build).toMatchObject({
      state: 'passed',
      meta_data: { demo: 'it works' },
      jobs: [{ exit_status: 0 }, { exit_status: 0 }, { type: 'waiter' }, { exit_status: 0 }],
    })
  })

  it('that is running when everything is killed ends after the next start, and its process too', async () => {
    const settings = { MILLRACE_DATA_DIR: aDataDirectory() }
    const killed = await startServer(settings)
    const file = `${aDirectory()}/pid`
    await killed.post('/v2/organizations/default/pipelines', {
      name: 'Long',
      repository: 'none',
      configuration: `env: {BUILDKITE_SKIP_CHECKOUT: "true"}\nsteps: [{command: "echo $$$$ > ${file}; sleep 600"}]`,
    })
    const builds = '/v2/organizations/default/pipelines/long/builds'
    await killed.post(builds, { commit: 'HEAD', branch: 'main' })
    const pid = await eventually('the job runs', async () => {
      return existsSync(file) && Number(readFileSync(file, 'utf8'))
    })
    killed.killGroup()
    await killed.ended
    expect(isAlive(pid)).toBe(true)

    const server = await startServer(settings)
    const build = await eventually('the build ends', async () => {
      const { body } = await server.get(`${builds}/1`, killed.token)
      return body.finished_at !== null && body
    })
    expect(build).toMatchObject({ state: 'failed', jobs: [{ state: 'failed', exit_status: -1 }] })
    const isGone = await eventually('its process is ended', async () => !isAlive(pid))
    expect(isGone).toBe(true)
  })

  it('that is running when the server stops is stopped with it', async () => {
    const server = await startServer({ MILLRACE_DATA_DIR: aDataDirectory() })
    const made = await server.post('/v2/organizations/default/pipelines', {
      name: 'Long',
      repository: 'none',
      configuration: 'env: {BUILDKITE_SKIP_CHECKOUT: "true"}\nsteps: [{command: sleep 600}]',
    })
    expect(made.status).toBe(201)
    const builds = '/v2/organizations/default/pipelines/long/builds'
    await server.post(builds, { commit: 'HEAD', branch: 'main' })
    await eventually(
      'the job runs',
      async () => (await server.get(`${builds}/1`)).body.state.toString() === 'running',
    )
    const { code, ms } = await stop(server)
    expect(code).toBe(0)
    expect(ms).toBeLessThan(60_000)
  })
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
