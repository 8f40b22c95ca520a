import { beforeAll, describe, expect, it } from 'vitest'
import { useOwnApp } from '../../../../test/app.ts'
import { aRunningJob, sendLog } from '../../../../test/job-runs.ts'
import { reportDue, updateAll } from '../../../../test/commit-statuses.ts'
import { commitOf } from '../../../../test/deliveries.ts'
import { aGitHub, anAppKey } from '../../../../test/remote-hosts/github-host.ts'

const app = useOwnApp({ env: { MILLRACE_OUTBOUND_ALLOW: '127.0.0.0/8' } })
beforeAll(() => updateAll(app.ctx))

async function annotated(configuration: string, log: string, exitStatus: number) {
  const key = anAppKey()
  const host = await aGitHub()
  host.keys = [key.publicKey]
  try {
    const scene = await aRunningJob(app, configuration)
    await app.request('POST', `${scene.org.path}/repository_connections`, {
      token: scene.admin.token,
      body: {
        type: 'github_app',
        api_url: host.url,
        app_id: host.appId,
        installation_id: host.installation,
        private_key: key.pem,
      },
    })
    const repository = 'git@github.com:acme/app.git'
    await app.db.updateTable('pipelines').set({ repository }).where('id', '=', scene.pipeline.id).execute()
    await app.db
      .updateTable('builds')
      .set({ commit: commitOf('head') })
      .where('id', '=', scene.build.id)
      .execute()
    await sendLog(app, scene.run, log)
    await scene.run.finish(exitStatus)
    await updateAll(app.ctx)
    await reportDue(app.ctx)
    return Object.fromEntries(
      host
        .done(/check-runs/)
        .map(({ body }) => [
          body['name'],
          (body['output'] as { annotations?: Array<Record<string, unknown>> }).annotations?.map(
            ({ path, start_line, message }) => [path, start_line, message],
          ),
        ]),
    )
  } finally {
    await host.close()
  }
}

const log = [
  '--- Tests',
  'test one passed',
  '\u001b[31mAssertionError: expected 3 to be 4\u001b[0m',
  '    at f (src/a.test.ts:7:9)',
  '    at run (node_modules/runner/index.js:1:1)',
  '^^^ +++',
  '',
].join('\n')
const line = ['src/a.test.ts', 7, 'AssertionError: expected 3 to be 4\nat f (src/a.test.ts:7:9)']

describe('a check of a failed build', () => {
  it('has the failing lines at their places, after the annotations of notify', async () => {
    const configuration = JSON.stringify({
      steps: [
        { label: 'Tests', key: 'tests', command: 'make', notify: [{ github_check: { name: 'step' } }] },
      ],
      notify: [
        {
          github_check: {
            name: 'build',
            output: {
              annotations: [
                {
                  path: 'README.md',
                  start_line: 1,
                  end_line: 1,
                  annotation_level: 'notice',
                  message: 'Read me',
                },
              ],
            },
          },
        },
      ],
    })
    expect(await annotated(configuration, log, 1)).toEqual({
      step: [line],
      build: [['README.md', 1, 'Read me'], line],
    })
  })

  it('has those of its own step alone, and a passed one none', async () => {
    const of = (name: string) => ({ label: name, command: name, notify: [{ github_check: { name } }] })
    const both = await annotated(JSON.stringify({ steps: [of('one'), of('two')] }), log, 1)
    expect(both).toEqual({ one: [line] })
    const passed = await annotated(JSON.stringify({ steps: [of('one')] }), log, 0)
    expect(passed).toEqual({ one: undefined })
  })
})
