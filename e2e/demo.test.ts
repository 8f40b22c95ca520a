import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { aDataDirectory, eventually, startServer, stop, theServer } from './millrace.ts'

const demo = '/v2/organizations/default/pipelines/demo/builds'

describe('the first build', () => {
  it('of the demo pipeline runs on the local agent and is green', async () => {
    const server = theServer()
    const created = await server.post(demo, { commit: 'HEAD', branch: 'main', message: 'First' })
    // A waiting agent may take it before the response is written.
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

  it('that runs when everything is killed ends after the next start, like its process', async () => {
    const settings = { MILLRACE_DATA_DIR: aDataDirectory() }
    const killed = await startServer(settings)
    const seconds = uniqueSeconds()
    await killed.post('/v2/organizations/default/pipelines', {
      name: 'Long',
      repository: 'none',
      configuration: `env: {BUILDKITE_SKIP_CHECKOUT: "true"}\nsteps: [{command: "sleep ${seconds}"}]`,
    })
    const builds = '/v2/organizations/default/pipelines/long/builds'
    await killed.post(builds, { commit: 'HEAD', branch: 'main' })
    await eventually('the job runs', async () => isSleeping(seconds))
    killed.killGroup()
    await killed.ended

    const server = await startServer(settings)
    const build = await eventually('the build ends', async () => {
      const { body } = await server.get(`${builds}/1`, killed.token)
      return body.finished_at !== null && body
    })
    expect(build).toMatchObject({ state: 'failed', jobs: [{ state: 'failed', exit_status: -1 }] })
    await eventually('its process is ended', async () => !isSleeping(seconds))
  })

  it('that runs when the server stops is stopped too', async () => {
    const server = await startServer({ MILLRACE_DATA_DIR: aDataDirectory() })
    const seconds = uniqueSeconds()
    const made = await server.post('/v2/organizations/default/pipelines', {
      name: 'Long',
      repository: 'none',
      configuration: `env: {BUILDKITE_SKIP_CHECKOUT: "true"}\nsteps: [{command: "sleep ${seconds}"}]`,
    })
    expect(made.status).toBe(201)
    const builds = '/v2/organizations/default/pipelines/long/builds'
    await server.post(builds, { commit: 'HEAD', branch: 'main' })
    await eventually('the job runs', async () => isSleeping(seconds))
    expect((await stop(server)).code).toBe(0)
    await eventually('its process is ended', async () => !isSleeping(seconds))
  })
})

/** Identifies the process of a job, which sleeps longer than any test. */
const uniqueSeconds = () => String(10_000 + Math.floor(Math.random() * 10_000_000))

const isSleeping = (seconds: string) =>
  execFileSync('ps', ['-A', '-o', 'args='], { encoding: 'utf8' }).includes(`\nsleep ${seconds}\n`)
