import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { needing } from '../testbed/src/needing.ts'
import {
  pgbouncerLacks,
  pgbouncerPrepares,
  startPgbouncer,
  type PgbouncerOptions,
  type Upstream,
} from '../testbed/src/pgbouncer.ts'
import { anEmptyDatabase } from './databases.ts'
import { aDirectory, eventually, millrace, startServer, stop, theServer } from './millrace.ts'

needing('pgbouncer', pgbouncerLacks).describe('replicas behind PgBouncer in transaction mode', () => {
  it.each([
    { keeps: 'keeps', preparedStatements: 500 },
    { keeps: 'does not keep', preparedStatements: 0 },
  ])(
    'run builds where it $keeps prepared statements, and a command revokes a token',
    async ({ preparedStatements }) => {
      const name = `pooled_${preparedStatements}`
      const settings = await pooled(name, { preparedStatements, poolSize: 5 })
      const first = await startServer(settings)
      const second = await startServer(settings)
      const isKept = pgbouncerPrepares && preparedStatements > 0
      expect(first.output().stderr.includes('max_prepared_statements')).toBe(!isKept)

      const pipeline = await first.post('/v2/organizations/default/pipelines', {
        name: 'Pooled',
        repository: 'none',
        configuration:
          'env: {BUILDKITE_SKIP_CHECKOUT: "true"}\nsteps: [{command: "echo job $$BUILDKITE_PARALLEL_JOB", parallelism: 3}]',
      })
      expect(pipeline.status).toBe(201)
      const builds = '/v2/organizations/default/pipelines/pooled/builds'
      for (const replica of [first, second, first, second]) {
        expect((await replica.post(builds, { commit: 'HEAD', branch: 'main' }, first.token)).status).toBe(201)
      }
      const ended = await eventually('the builds end', async () => {
        const { body } = await second.get(builds, first.token)
        const list = Array.from({ length: 4 }, (_, index) => body[index])
        return list.every((build) => build.finished_at !== null) && list
      })
      expect(ended.map(({ state }) => state)).toEqual(['passed', 'passed', 'passed', 'passed'])

      const revoked = await millrace(['token', 'revoke', await tokenId(first)], settings)
      expect(revoked).toMatchObject({ code: 0, stderr: '' })
      for (const replica of [first, second]) {
        expect((await replica.get(builds, first.token)).status).toBe(401)
      }
      const ends = await Promise.all([first, second].map(stop))
      expect(ends.map(({ code }) => code)).toEqual([0, 0])
    },
  )

  it('refuse to start without the address of PostgreSQL itself, and with that of another database', async () => {
    const { MILLRACE_DATABASE_DIRECT_URL: direct, ...settings } = await pooled('pooled_alone', {})
    const alone = await millrace(['serve'], settings)
    expect(alone).toMatchObject({ code: 1, stdout: '' })
    expect(alone.stderr).toMatch(
      /^DATABASE_URL leads to a pooler in transaction mode, .*: set MILLRACE_DATABASE_DIRECT_URL .*\.\n$/,
    )
    const around = await millrace(['serve'], {
      ...settings,
      MILLRACE_DATABASE_DIRECT_URL: settings.DATABASE_URL,
    })
    expect(around.stderr).toMatch(/^MILLRACE_DATABASE_DIRECT_URL leads to a pooler in transaction mode, /)
    const elsewhere = await millrace(['serve'], {
      ...settings,
      MILLRACE_DATABASE_DIRECT_URL: direct.replace('pooled_alone', 'postgres'),
    })
    expect(elsewhere).toMatchObject({ code: 1, stdout: '' })
    expect(elsewhere.stderr).toBe(
      'DATABASE_URL and MILLRACE_DATABASE_DIRECT_URL lead to different databases: correct one of them.\n',
    )
  })
})

async function tokenId({ get }: Awaited<ReturnType<typeof startServer>>): Promise<string> {
  return String((await get('/v2/access-token')).body.uuid)
}

/** The settings of replicas on an empty database of this name, behind a PgBouncer of their own. */
async function pooled(name: string, options: PgbouncerOptions) {
  const direct = await anEmptyDatabase(name)
  const { port, stop: end } = await startPgbouncer(upstream(), options)
  onTestFinished(end)
  return {
    DATABASE_URL: `postgresql://millrace@127.0.0.1:${port}/${name}`,
    MILLRACE_DATABASE_DIRECT_URL: direct,
    MILLRACE_SECRET_KEY: 'a key of 32+ characters that all replicas share',
    MILLRACE_DATA_DIR: aDirectory(),
    MILLRACE_DRAIN_SECONDS: '0',
    PORT: '0',
  }
}

/** The PostgreSQL of the shared server. */
function upstream(): Upstream {
  const files = /files in (.*)$/.exec(theServer().database)?.[1] ?? ''
  const password = readFileSync(join(files, 'password'), 'utf8').trim()
  return { host: `${files}/run`, port: 54329, user: 'millrace', password }
}
