import { beforeAll, describe, expect, it } from 'vitest'
import { useApp, type Json } from '../../test/app.ts'
import { anAdmin, anOrganization, aPipeline, unique, type TestOrganization } from '../../test/builders.ts'
import {
  aPullRequest,
  aPush,
  commitOf,
  deliver,
  githubEvent,
  hosts,
  webhookPath,
  type Host,
  type TestDelivery,
} from '../../test/deliveries.ts'

const app = useApp()
const configuration = 'steps: [{ command: make }]'
const repositories: Record<Host, string> = {
  github: 'git@github.com:acme/app.git',
  gitea: 'https://git.example.com/acme/app.git',
  forgejo: 'https://forge.example.com/acme/app.git',
  gitlab: 'https://gitlab.com/acme/app.git',
  bitbucket: 'git@bitbucket.org:acme/app.git',
  bitbucket_server: 'ssh://git@bitbucket.example.com:7999/acme/app.git',
  azure_devops: 'git@ssh.dev.azure.com:v3/acme/work/app',
}

let org: TestOrganization
let token: string
beforeAll(async () => {
  org = await anOrganization(app)
  token = (await anAdmin(app, org)).token
})

const aPipelineAt = (host: Host, settings: object = {}, given: object = {}) =>
  aPipeline(app, org, configuration, {
    repository: repositories[host],
    provider_settings: JSON.stringify(settings),
    ...given,
  })

const outcomes = (answer: { body: Json }) =>
  (answer.body.outcomes as unknown as Array<{ result: string; reason: string | null }>).map(
    ({ result, reason }) => reason ?? result,
  )

const builds = async (pipeline: { path: string }) =>
  (await app.request('GET', `${pipeline.path}/builds`, { token })).list

describe('POST webhook_url', () => {
  it.each(hosts)('builds a push from %s', async (host) => {
    const pipeline = await aPipelineAt(host)
    const answer = await deliver(app, pipeline, aPush(host))
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        message: 'Build #1 of main was made.',
        outcomes: [
          {
            ref: 'main',
            result: 'built',
            reason: null,
            builds: [
              {
                id: expect.any(String),
                number: 1,
                web_url: expect.stringMatching(new RegExp(`/${org.slug}/${pipeline.slug}/builds/1$`)),
              },
            ],
          },
        ],
        replayed: false,
      },
    ])
    expect(await builds(pipeline)).toMatchObject([
      {
        source: 'webhook',
        branch: 'main',
        commit: commitOf('head'),
        message: 'Make it faster',
        tag: null,
        author: { name: 'Ada Example', email: 'ada@example.com' },
        creator: null,
        pull_request: null,
        state: 'scheduled',
      },
    ])
  })

  it.each(hosts)('builds a pull request from %s', async (host) => {
    const pipeline = await aPipelineAt(host)
    const answer = await deliver(app, pipeline, aPullRequest(host, { draft: true, labels: ['bug'] }))
    expect(outcomes(answer)).toEqual(['built'])
    expect(await builds(pipeline)).toMatchObject([
      {
        branch: 'feature',
        commit: expect.stringMatching(new RegExp(`^${commitOf('feature').slice(0, 12)}`)),
        message: 'Add a wheel',
        pull_request: {
          id: '7',
          base: 'main',
          repository: expect.stringMatching(/acme\/(work\/_git\/)?app/),
        },
      },
    ])
    const { pull_request: kept } = await app.db
      .selectFrom('builds')
      .select('pull_request')
      .where('pipeline_id', '=', pipeline.id)
      .executeTakeFirstOrThrow()
    expect(kept).toMatchObject({
      draft: true,
      fork: false,
      labels: host.startsWith('bitbucket') ? [] : ['bug'],
    })
  })

  it.each(hosts)('builds a tag from %s, where build_tags is on', async (host) => {
    const tag = () => aPush(host, { ref: 'refs/tags/v1.0' })
    const [off, on] = [await aPipelineAt(host), await aPipelineAt(host, { build_tags: true })]
    expect(outcomes(await deliver(app, off, tag()))).toEqual([
      'The tag v1.0 is not built: build_tags is off.',
    ])
    expect(outcomes(await deliver(app, on, tag()))).toEqual(['built'])
    expect(await builds(on)).toMatchObject([{ branch: 'v1.0', tag: 'v1.0', commit: commitOf('head') }])
  })

  it.each(hosts)(
    'ends the builds of a branch that %s says is gone, where that is asked for',
    async (host) => {
      const pipeline = await aPipelineAt(host, { cancel_deleted_branch_builds: true })
      const push = (name: string, deleted: boolean) =>
        deliver(app, pipeline, aPush(host, { ref: `refs/heads/${name}`, deleted }))
      await push('feature', false)
      await push('main', false)
      expect(outcomes(await push('feature', true))).toEqual(['The branch feature was deleted.'])
      expect((await builds(pipeline)).map(({ branch, state }) => [branch, state])).toEqual([
        ['main', 'scheduled'],
        ['feature', 'canceled'],
      ])
    },
  )

  it.each(hosts)('builds a pull request from a fork at %s only where that is asked for', async (host) => {
    const pull = () => aPullRequest(host, { fork: true })
    const [off, on] = [await aPipelineAt(host), await aPipelineAt(host, { build_pull_request_forks: true })]
    expect(outcomes(await deliver(app, off, pull()))).toEqual([
      'Pull request #7: it comes from a fork, and build_pull_request_forks is off.',
    ])
    expect(outcomes(await deliver(app, on, pull()))).toEqual(['built'])
    const { pull_request: kept } = await app.db
      .selectFrom('builds')
      .select('pull_request')
      .where('pipeline_id', '=', on.id)
      .executeTakeFirstOrThrow()
    expect(kept).toMatchObject({ id: '7', fork: true })
  })

  it.each(hosts)('does nothing twice for a delivery that %s sends again', async (host) => {
    const pipeline = await aPipelineAt(host)
    const push = aPush(host)
    const answers = await Promise.all([1, 2, 3].map(() => deliver(app, pipeline, push)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(answers.map(({ body }) => String(body.replayed)).toSorted()).toEqual(['false', 'true', 'true'])
    for (const { body } of answers) expect(body.outcomes).toEqual(answers[0]?.body.outcomes)
    expect(await builds(pipeline)).toHaveLength(1)
  })

  it('keeps the deliveries of two pipelines apart', async () => {
    const [one, two] = [await aPipelineAt('github'), await aPipelineAt('github')]
    const push = aPush('github')
    expect((await deliver(app, one, push)).body.replayed).toBe(false)
    expect((await deliver(app, two, push)).body.replayed).toBe(false)
  })

  it('answers 404 to an address that no pipeline has, before it reads the body', async () => {
    for (const path of [`/deliver/${'0'.repeat(50)}`, '/deliver/x', `/deliver/${'A'.repeat(50)}`]) {
      const answer = await app.request('POST', path, {
        text: 'x'.repeat(1000),
        headers: { 'X-GitHub-Event': 'push' },
      })
      expect([answer.status, answer.body]).toEqual([404, { message: 'No pipeline found' }])
    }
  })

  it('takes the JSON as a field of a form too', async () => {
    const pipeline = await aPipelineAt('github')
    const { headers, body } = aPush('github')
    const form = {
      headers: { ...headers, 'Content-Type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ payload: JSON.stringify(body) }).toString(),
    }
    expect(outcomes(await deliver(app, pipeline, form))).toEqual(['built'])
  })

  it('says what a ping, an unknown event and an unknown action were good for', async () => {
    const pipeline = await aPipelineAt('github')
    const outcomesOf = async (delivery: TestDelivery) => outcomes(await deliver(app, pipeline, delivery))
    expect(await outcomesOf(githubEvent('ping', { zen: 'Keep it logically awesome.' }))).toEqual([
      'A ping: the webhook works.',
    ])
    expect(await outcomesOf(githubEvent('watch', {}))).toEqual(['The event watch makes no builds.'])
    expect(await outcomesOf(aPullRequest('github', { action: 'assigned' }))).toEqual([
      'Pull request #7: what changed makes no builds.',
    ])
    expect(await outcomesOf(aPush('github', { ref: 'refs/notes/commits' }))).toEqual([
      'The ref refs/notes/commits is neither branch nor tag.',
    ])
    expect(await builds(pipeline)).toEqual([])
  })

  it('builds nothing for another repository of the same host', async () => {
    const pipeline = await aPipelineAt('github')
    expect(outcomes(await deliver(app, pipeline, aPush('github', { repository: 'acme/other' })))).toEqual([
      "The delivery is about another repository than the pipeline's acme/app.",
    ])
    expect(outcomes(await deliver(app, pipeline, aPush('github', { repository: 'Acme/App' })))).toEqual([
      'built',
    ])
  })

  it('builds nothing while the pipeline is archived or its webhooks are switched off', async () => {
    const archived = await aPipelineAt('github', {}, { archived_at: '2026-01-01T00:00:00Z' })
    expect(outcomes(await deliver(app, archived, aPush('github')))).toEqual(['The pipeline is archived.'])
    const off = await aPipelineAt('github', {}, { webhooks_disabled_at: '2026-01-01T00:00:00Z' })
    expect(outcomes(await deliver(app, off, aPush('github')))).toEqual([
      'Webhooks from GitHub are switched off for this pipeline.',
    ])
  })

  it('says why when the configuration cannot be built, and uses up no number', async () => {
    const pipeline = await aPipeline(app, org, 'steps: [{ command: a, parallelism: 9999 }]', {
      repository: repositories.github,
    })
    expect(outcomes(await deliver(app, pipeline, aPush('github')))[0]).toMatch(
      /^Validation Failed: configuration /,
    )
    const { last_build_number: last } = await app.db
      .selectFrom('pipelines')
      .select('last_build_number')
      .where('id', '=', pipeline.id)
      .executeTakeFirstOrThrow()
    expect(last).toBe(0)
  })

  it.each(['[ci skip]', '[skip ci]', '[CI-SKIP]', '[Skip-CI]'])('builds nothing for %s', async (words) => {
    const pipeline = await aPipelineAt('github', { build_tags: true })
    const message = `Fix\n\nmore ${words} text`
    for (const ref of ['refs/heads/main', 'refs/tags/v1']) {
      expect(outcomes(await deliver(app, pipeline, aPush('github', { ref, message })))).toEqual([
        'The commit message asks for no build.',
      ])
    }
    const titled = aPullRequest('github', { title: `WIP ${words}` })
    expect(outcomes(await deliver(app, pipeline, titled))).toEqual([
      'Pull request #7: its title asks for no build.',
    ])
    expect(await builds(pipeline)).toEqual([])
  })

  it('builds a push as part of the pull request that is open from its branch', async () => {
    const pipeline = await aPipelineAt('github')
    await deliver(app, pipeline, aPullRequest('github', { labels: ['bug'] }))
    await deliver(app, pipeline, aPush('github', { ref: 'refs/heads/feature', commit: commitOf('second') }))
    await deliver(app, pipeline, aPullRequest('github', { action: 'closed', state: 'closed' }))
    await deliver(app, pipeline, aPush('github', { ref: 'refs/heads/feature', commit: commitOf('third') }))
    expect((await builds(pipeline)).map(({ pull_request: pull }) => pull)).toEqual([
      null,
      expect.objectContaining({ id: '7', base: 'main' }),
      expect.objectContaining({ id: '7' }),
    ])
  })

  it('skips older builds of the branch as the pipeline says', async () => {
    const pipeline = await aPipelineAt('github', {}, { skip_queued_branch_builds: true })
    await deliver(app, pipeline, aPush('github', { commit: commitOf('one') }))
    await deliver(app, pipeline, aPush('github', { commit: commitOf('two') }))
    expect((await builds(pipeline)).map(({ state }) => state)).toEqual(['scheduled', 'skipped'])
  })

  it('lets conditions see the event, the action and the label', async () => {
    const steps =
      'steps: [{ command: a, if: build.source_event == "pull_request" && build.source_action == "labeled" && build.pull_request.label == "bug" }]'
    const pipeline = await aPipeline(app, org, steps, {
      repository: repositories.github,
      provider_settings: JSON.stringify({ build_pull_request_labels_changed: true }),
    })
    const states = async (delivery: TestDelivery) => {
      const { body } = await deliver(app, pipeline, delivery)
      const [outcome] = body.outcomes as unknown as Array<{ builds: Array<{ id: string }> }>
      const jobs = app.db
        .selectFrom('jobs')
        .select('state')
        .where('build_id', '=', outcome?.builds[0]?.id ?? '')
      return (await jobs.execute()).map(({ state }) => state)
    }
    expect(await states(aPullRequest('github'))).toEqual(['broken'])
    const labeled = { action: 'labeled', labels: ['bug'], more: { label: { name: 'bug' } } }
    expect(await states(aPullRequest('github', labeled))).toEqual(['scheduled'])
  })

  it('writes neither the address nor the payload into the log', async () => {
    const pipeline = await aPipelineAt('github')
    const path = await webhookPath(app, pipeline)
    await deliver(app, pipeline, aPush('github', { message: unique('a secret message') }))
    const log = app.logLines.join('')
    expect(log).toContain('/deliver/')
    expect(log).not.toContain(path.split('/')[2])
    expect(log).not.toContain('a secret message')
  })
})
