import { describe, expect, it } from 'vitest'
import { baseUrl, sortedStatuses, useApp } from '../../../../test/app.ts'
import {
  aCluster,
  aMember,
  anAdmin,
  anOrganization,
  aTeam,
  auditTrail,
  unique,
} from '../../../../test/builders.ts'
import { graphqlId } from '../../../lib/ids.ts'

const app = useApp()
const unknownId = '01885682-55a7-44f5-84f3-0402fb452e66'
const configuration = 'steps:\n  - command: make\n'
const repository = 'git@github.com:acme/app.git'

async function anOrg() {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  const cluster = await aCluster(app, org, admin)
  const path = `${org.path}/pipelines`
  const post = (body: object, token = admin.token) =>
    app.request('POST', path, { token, body: { name: unique('App'), repository, configuration, ...body } })
  const patch = (slug: unknown, body: object, token = admin.token) =>
    app.request('PATCH', `${path}/${slug}`, { token, body })
  return { org, admin, cluster, post, patch }
}

const invalid = (field: string, code: unknown) => [
  422,
  { message: expect.stringMatching(/^Validation Failed: ./), errors: [{ field, code }] },
]

describe('POST /v2/organizations/{org.slug}/pipelines', () => {
  it('answers 201 with the whole pipeline', async () => {
    const { org, admin, cluster, post } = await anOrg()
    const answer = await post({
      name: 'My  App',
      description: 'It is mine',
      emoji: ':rocket:',
      color: '#FFE0F1',
      cluster_id: cluster.id,
      default_branch: 'trunk',
      branch_configuration: 'trunk v*',
      skip_queued_branch_builds: true,
      skip_queued_branch_builds_filter: '!trunk',
      cancel_running_branch_builds: true,
      cancel_running_branch_builds_filter: '',
      allow_rebuilds: false,
      default_command_step_timeout: 10,
      maximum_command_step_timeout: 60,
      poll_interval_seconds: 300,
      junit_artifacts: '**/junit*.xml',
      clone_mirror_url: 'https://mirror.example.com/app.git',
      provider_settings: { build_tags: true, trigger_mode: 'none' },
      tags: ['backend', 'go'],
      env: { IGNORED: 'for YAML' },
    })
    expect(answer.status).toBe(201)
    const { id } = answer.body
    const url = `${baseUrl}${org.path}/pipelines/my-app`
    expect(answer.body).toEqual({
      id: expect.any(String),
      graphql_id: graphqlId('Pipeline', String(id)),
      url,
      web_url: `${baseUrl}/${org.slug}/my-app`,
      name: 'My  App',
      description: 'It is mine',
      slug: 'my-app',
      repository,
      cluster_id: cluster.id,
      cluster_url: `${baseUrl}${cluster.path}`,
      pipeline_template_uuid: null,
      branch_configuration: 'trunk v*',
      clone_mirror_url: 'https://mirror.example.com/app.git',
      default_branch: 'trunk',
      skip_queued_branch_builds: true,
      skip_queued_branch_builds_filter: '!trunk',
      cancel_running_branch_builds: true,
      cancel_running_branch_builds_filter: null,
      allow_rebuilds: false,
      provider: {
        id: 'github',
        webhook_url: expect.stringMatching(new RegExp(`^${baseUrl}/deliver/[0-9a-f]{50}$`)),
        webhook_id: null,
        settings: expect.objectContaining({
          repository: 'acme/app',
          build_tags: true,
          trigger_mode: 'none',
          build_branches: true,
        }),
      },
      builds_url: `${url}/builds`,
      badge_url: expect.stringMatching(new RegExp(`^${baseUrl}/badges/[0-9a-f]{50}\\.svg$`)),
      created_by: expect.objectContaining({ id: admin.id, name: admin.name }),
      created_at: expect.any(String),
      archived_at: null,
      env: {},
      scheduled_builds_count: 0,
      running_builds_count: 0,
      scheduled_jobs_count: 0,
      running_jobs_count: 0,
      waiting_jobs_count: 0,
      visibility: 'private',
      tags: ['backend', 'go'],
      emoji: ':rocket:',
      color: '#FFE0F1',
      default_command_step_timeout: 10,
      maximum_command_step_timeout: 60,
      poll_interval_seconds: 300,
      poll_error: null,
      junit_artifacts: '**/junit*.xml',
      configuration,
      steps: [expect.objectContaining({ type: 'script', command: 'make' })],
    })
  })

  it('needs no more than name, repository and configuration where there is one cluster', async () => {
    const { cluster, post } = await anOrg()
    expect((await post({ cluster_id: '' })).body).toMatchObject({
      cluster_id: cluster.id,
      default_branch: 'main',
      branch_configuration: null,
      allow_rebuilds: true,
      visibility: 'private',
    })
  })

  it("takes the organization's default cluster and branch, and requires a cluster when there is no default", async () => {
    const { org, admin, post } = await anOrg()
    const second = await aCluster(app, org, admin)
    const without = await post({})
    expect([without.status, without.body]).toEqual(
      invalid('cluster_id', 'is required: the organization has no default cluster'),
    )
    const body = { default_cluster_id: second.id, default_branch: 'trunk' }
    await app.request('PATCH', `${org.path}/pipeline-settings`, { token: admin.token, body })
    expect((await post({})).body).toMatchObject({ cluster_id: second.id, default_branch: 'trunk' })
  })

  it('puts pipelines into a cluster only for those who may use it (abuse case R2)', async () => {
    const { org, admin, cluster, post, patch } = await anOrg()
    const [member, maintainer] = [await aMember(app, org), await aMember(app, org)]
    const other = await aCluster(app, org, admin, { maintainers: [{ user: maintainer.id }] })
    const settings = { default_cluster_id: cluster.id }
    await app.request('PATCH', `${org.path}/pipeline-settings`, { token: admin.token, body: settings })
    const refusal = [
      403,
      { message: 'Only administrators and maintainers of the cluster may put pipelines into it' },
    ]
    const entered = await post({ cluster_id: other.id }, member.token)
    expect([entered.status, entered.body]).toEqual(refusal)
    const own = await post({ cluster_id: cluster.id }, member.token)
    expect([own.status, own.body.cluster_id]).toEqual([201, cluster.id])
    const moved = await patch(own.body.slug, { cluster_id: other.id.toUpperCase() }, member.token)
    expect([moved.status, moved.body]).toEqual(refusal)
    // An unchanged cluster needs no permission.
    const same = await patch(own.body.slug, { cluster_id: cluster.id.toUpperCase() }, member.token)
    expect([same.status, same.body.cluster_id]).toEqual([200, cluster.id])
    for (const { token } of [maintainer, admin]) {
      expect((await post({ cluster_id: other.id }, token)).body.cluster_id).toBe(other.id)
    }
    // Everyone who may create pipelines may move one to the default cluster.
    expect((await patch(own.body.slug, { cluster_id: other.id }, maintainer.token)).status).toBe(200)
    expect((await patch(own.body.slug, { cluster_id: cluster.id }, member.token)).status).toBe(200)
  })

  it('suggests a configuration when it is missing', async () => {
    const { post } = await anOrg()
    const answer = await post({ configuration: undefined })
    const lines = 'steps:\n  - command: buildkite-agent pipeline upload'
    expect(answer.status).toBe(422)
    expect(answer.body.message).toMatch(/^Validation Failed: Step configuration is missing, expected /)
    expect(String(answer.body.message).endsWith(`:\n${lines}`)).toBe(true)
    expect(answer.body.errors).toEqual([
      { field: 'configuration', code: String(answer.body.message).replace('Validation Failed: ', '') },
    ])
    expect((await post({ configuration: lines })).status).toBe(201)
  })

  it('answers 422 without a cluster of this organization', async () => {
    const [mine, theirs] = [await anOrg(), await anOrg()]
    for (const cluster_id of [theirs.cluster.id, unknownId, 'x']) {
      const answer = await mine.post({ cluster_id })
      expect([answer.status, answer.body]).toEqual(
        invalid('cluster_id', 'is not the id of a cluster of this organization'),
      )
    }
  })

  it('answers 422 without a configuration', async () => {
    const { post } = await anOrg()
    for (const configuration of [undefined, null, '', ' \n']) {
      const answer = await post({ configuration })
      expect([answer.status, answer.body]).toEqual(
        invalid('configuration', expect.stringMatching(/^Step configuration is missing, expected /)),
      )
    }
  })

  it('answers 422 to a configuration that cannot be read, with line, column and cause', async () => {
    const { post } = await anOrg()
    const answer = await post({
      configuration: 'steps:\n  - comand: make\n  - command: make\n    parralelism: 2\n',
    })
    expect(answer.status).toBe(422)
    expect(answer.body).toEqual({
      message: expect.stringMatching(/^Validation Failed: configuration line 2, column 5.*`command`\?$/),
      errors: [
        {
          field: 'configuration',
          code: expect.stringMatching(/^line 2, column 5.*; did you mean `command`\?$/),
        },
        {
          field: 'configuration',
          code: expect.stringMatching(/^line 4, column 5.*; did you mean `parallelism`\?$/),
        },
      ],
    })
  })

  it('takes a configuration of a mebibyte and refuses a longer one', async () => {
    const { post } = await anOrg()
    const long = (bytes: number) => `${configuration}#${'"'.repeat(bytes - configuration.length - 1)}`
    expect((await post({ configuration: long(1024 * 1024) })).status).toBe(201)
    const answer = await post({ configuration: long(1024 * 1024 + 1) })
    expect([answer.status, answer.body]).toEqual(invalid('configuration', expect.stringMatching(/^line 1/)))
  })

  it.each([
    [{ name: undefined }, 'name', 'is required'],
    [{ name: ' ' }, 'name', 'must not be blank'],
    [{ name: '日本' }, 'slug', 'cannot be made from the name; give one'],
    [{ repository: undefined }, 'repository', 'is required'],
    [{ repository: '--upload-pack=touch' }, 'repository', 'must be the URL of a git repository'],
    [{ slug: '-x' }, 'slug', 'must consist of letters, digits and dashes, and not begin with a dash'],
    [{ slug: 'x'.repeat(101) }, 'slug', 'must have at most 100 characters'],
    [{ tags: Array.from({ length: 11 }, (_, index) => `t${index}`) }, 'tags', 'must have at most 10 entries'],
    [{ tags: ['x'.repeat(129)] }, 'tags[0]', 'must have at most 128 characters'],
    [{ visibility: 'secret' }, 'visibility', 'must be "private" or "public"'],
    [
      { visibility: 'public' },
      'visibility',
      'cannot be public: the organization does not allow public pipelines',
    ],
    [
      { default_command_step_timeout: 61, maximum_command_step_timeout: 60 },
      'default_command_step_timeout',
      'must not exceed maximum_command_step_timeout',
    ],
    [{ clone_mirror_url: 'https://a:b@example.com' }, 'clone_mirror_url', 'must not contain credentials'],
    [
      { provider_settings: { build_tag: true } },
      'provider_settings.build_tag',
      'is not a provider setting; did you mean build_tags?',
    ],
    [{ skip_queued_branch_builds: 'yes' }, 'skip_queued_branch_builds', 'must be a boolean'],
    [{ pipeline_template_uuid: unknownId }, 'pipeline_template_uuid', 'is not a template that you may use'],
    [
      { teams: { [unknownId]: 'read_only' } },
      'teams',
      `has "${unknownId}", which is no team of this organization`,
    ],
  ])('answers 422 to %o', async (body, field, code) => {
    const { post } = await anOrg()
    const answer = await post(body)
    expect([answer.status, answer.body]).toEqual(invalid(field, code))
  })

  it('keeps names and slugs unique in the organization, also when two are made at once', async () => {
    const [mine, theirs] = [await anOrg(), await anOrg()]
    const answers = await Promise.all([1, 2, 3].map(() => mine.post({ name: 'Same' })))
    expect(sortedStatuses(answers)).toEqual([201, 422, 422])
    expect(answers.find(({ status }) => status === 422)?.body).toMatchObject({
      message: expect.stringMatching(/^Validation Failed: (name|slug) is taken/),
      errors: [{ field: expect.stringMatching(/^(name|slug)$/), code: expect.stringMatching(/^is taken/) }],
    })
    expect((await mine.post({ name: 'Same', slug: 'other' })).body.errors).toMatchObject([{ field: 'name' }])
    expect((await mine.post({ name: 'Other', slug: 'same' })).body.errors).toMatchObject([{ field: 'slug' }])
    expect((await theirs.post({ name: 'Same' })).status).toBe(201)
  })

  it('takes a list of steps instead of YAML, and its variables', async () => {
    const { post, patch } = await anOrg()
    const made = await post({
      configuration: undefined,
      steps: [{ type: 'script', name: 'Test', command: 'make' }, { type: 'waiter' }],
      env: { A: 'x', B: 1, C: true },
    })
    expect(made.status).toBe(201)
    expect(made.body.env).toEqual({ A: 'x', B: '1', C: 'true' })
    expect(made.body.steps).toMatchObject([{ type: 'script', name: 'Test' }, { type: 'waiter' }])
    const changed = await patch(made.body.slug, { steps: [{ type: 'manual', label: 'Go?' }] })
    expect(changed.body).toMatchObject({ steps: [{ type: 'manual', label: 'Go?' }], env: { A: 'x' } })
    const written = await patch(made.body.slug, { configuration })
    expect(written.body).toMatchObject({ configuration, env: {} })
  })

  it('answers 422 to an invalid list of steps', async () => {
    const { post } = await anOrg()
    const answer = await post({ configuration: undefined, steps: [{ type: 'trigger', label: 'Deploy' }] })
    expect([answer.status, answer.body]).toMatchObject(invalid('steps', expect.stringContaining('trigger')))
  })

  it('puts the pipeline into teams, by either name', async () => {
    const { org, admin, post } = await anOrg()
    const [first, second] = [await aTeam(app, org, admin), await aTeam(app, org, admin)]
    const made = await post({ teams: { [first.id]: 'read_only', [second.id]: 'build_and_read' } })
    expect(made.status).toBe(201)
    const levels = async (team: { path: string }) =>
      (await app.request('GET', `${team.path}/pipelines`, { token: admin.token })).list.map(
        ({ access_level }) => access_level,
      )
    expect([await levels(first), await levels(second)]).toEqual([['read_only'], ['build_and_read']])
    await post({ team_uuids: [first.id] })
    expect(await levels(first)).toEqual(['read_only', 'manage_build_and_read'])
    expect(await auditTrail(app, org, 'TEAM_PIPELINE_CREATED')).toHaveLength(3)
  })

  it('writes PIPELINE_CREATED without passwords, steps or variables', async () => {
    const { org, post } = await anOrg()
    const made = await post({ name: 'App', repository: 'https://me:secret@git.example.com/app.git' })
    const [event] = await auditTrail(app, org, 'PIPELINE_CREATED')
    expect(event).toMatchObject({
      subject: { type: 'Pipeline', uuid: made.body.id, name: 'App' },
      data: { name: 'App', slug: 'app', repository: 'https://git.example.com/app.git' },
    })
    expect(JSON.stringify(event)).not.toContain('secret')
    expect(event?.data).not.toHaveProperty('configuration')
  })
})
