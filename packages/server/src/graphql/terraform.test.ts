// The documents that the Terraform provider sends. Their effects are seen over REST.
import { beforeAll, describe, expect, it } from 'vitest'
import { useApp, type Json } from '../../test/app.ts'
import {
  aCluster,
  aMember,
  anAdmin,
  anOrganization,
  aPipeline,
  aQueue,
  aTeam,
  unique,
  type TestOrganization,
  type TestUser,
} from '../../test/builders.ts'
import { graphql, graphqlData } from '../../test/graphql/client.ts'
import { providerDocument } from '../../test/graphql/provider-operations.ts'
import {
  clusterDocuments,
  nodeDocument,
  organizationDocuments,
  pipelineDocuments,
  queueDocuments,
  ruleDocuments,
  scheduleDocuments,
  teamDocuments,
  teamMemberDocuments,
  teamPipelineDocuments,
  templateDocuments,
  tokenDocuments,
} from '../../test/graphql/terraform-documents.ts'

const app = useApp()

let org: TestOrganization
let admin: TestUser
let organizationId: string
beforeAll(async () => {
  org = await anOrganization(app)
  admin = await anAdmin(app, org)
  organizationId = btoa(`Organization---${org.id}`)
})

const ask = (document: string, variables: Record<string, unknown>): Promise<Json> =>
  graphqlData(app, admin.token, document, variables)

const show = async (path: string): Promise<Json> => {
  const { status, body } = await app.request('GET', `${org.path}${path}`, { token: admin.token })
  return status === 200 ? body : ({ status } as unknown as Json)
}

const nodeOf = async (id: unknown): Promise<Json | null> => {
  const { node } = await ask(nodeDocument, { id })
  return node ?? null
}

describe('a pipeline', () => {
  const asGraphql = (pipeline: Json, cluster: Json | null) => ({
    id: pipeline.graphql_id,
    pipelineUuid: pipeline.id,
    allowRebuilds: pipeline.allow_rebuilds,
    badgeURL: pipeline.badge_url,
    branchConfiguration: pipeline.branch_configuration,
    cancelIntermediateBuilds: pipeline.cancel_running_branch_builds,
    cancelIntermediateBuildsBranchFilter: pipeline.cancel_running_branch_builds_filter,
    cloneMirrorUrl: pipeline.clone_mirror_url,
    cluster: cluster && { id: cluster.graphql_id, name: cluster.name },
    color: pipeline.color,
    defaultBranch: pipeline.default_branch,
    defaultTimeoutInMinutes: pipeline.default_command_step_timeout,
    emoji: pipeline.emoji,
    maximumTimeoutInMinutes: pipeline.maximum_command_step_timeout,
    description: pipeline.description,
    name: pipeline.name,
    repository: { url: pipeline.repository },
    skipIntermediateBuilds: pipeline.skip_queued_branch_builds,
    skipIntermediateBuildsBranchFilter: pipeline.skip_queued_branch_builds_filter,
    slug: pipeline.slug,
    steps: { yaml: pipeline.configuration },
    tags: (pipeline.tags as unknown as string[]).map((label) => ({ label })),
    archived: pipeline.archived_at !== null,
    visibility: String(pipeline.visibility).toUpperCase(),
    webhookURL: pipeline.provider?.webhook_url,
  })

  it('is created, read, updated, archived and deleted', async () => {
    const cluster = await aCluster(app, org, admin)
    const team = await aTeam(app, org, admin)
    const clusterRow = await show(`/clusters/${cluster.id}`)
    const name = unique('terraform')
    const input = {
      organizationId,
      name,
      repository: { url: 'https://github.com/acme/app.git' },
      clusterId: btoa(`Cluster---${cluster.id}`),
      steps: { yaml: 'steps:\n  - command: make\n' },
      tags: [{ label: 'one' }, { label: 'two' }],
      teams: [{ id: btoa(`Team---${team.id}`), accessLevel: 'BUILD_AND_READ' }],
      visibility: 'PRIVATE',
      description: 'From Terraform',
      emoji: ':rocket:',
      color: '#FFE0F1',
      defaultBranch: 'trunk',
      defaultTimeoutInMinutes: 10,
      maximumTimeoutInMinutes: null,
      branchConfiguration: 'trunk',
      skipIntermediateBuilds: true,
      skipIntermediateBuildsBranchFilter: '!trunk',
      cancelIntermediateBuilds: false,
      cancelIntermediateBuildsBranchFilter: '',
      allowRebuilds: false,
    }
    const { pipelineCreate } = await ask(pipelineDocuments.create, { input })
    const made = pipelineCreate?.pipeline ?? {}
    const row = await show(`/pipelines/${made.slug}`)
    const teams = {
      pageInfo: { endCursor: expect.any(String), hasNextPage: false },
      count: 1,
      edges: [
        {
          cursor: expect.any(String),
          node: {
            id: expect.any(String),
            accessLevel: 'BUILD_AND_READ',
            team: { id: btoa(`Team---${team.id}`) },
          },
        },
      ],
    }
    const expected = { ...asGraphql(row, clusterRow), pipelineTemplate: null, teams }
    expect(made).toEqual(expected)
    expect(row).toMatchObject({
      name,
      repository: 'https://github.com/acme/app.git',
      cluster_id: cluster.id,
      configuration: 'steps:\n  - command: make\n',
      tags: ['one', 'two'],
      visibility: 'private',
      description: 'From Terraform',
      default_branch: 'trunk',
      default_command_step_timeout: 10,
      maximum_command_step_timeout: null,
      skip_queued_branch_builds: true,
      skip_queued_branch_builds_filter: '!trunk',
      allow_rebuilds: false,
    })

    const slug = `${org.slug}/${made.slug}`
    expect((await ask(pipelineDocuments.get, { slug })).pipeline).toEqual(expected)
    expect((await ask(pipelineDocuments.id, { slug })).pipeline).toEqual({ id: made.id })
    expect(await nodeOf(made.id)).toEqual({ __typename: 'Pipeline', ...expected })
    expect((await ask(pipelineDocuments.teams, { slug })).pipeline?.teams).toEqual(teams)

    const update = {
      id: made.id,
      name,
      repository: input.repository,
      clusterId: input.clusterId,
      steps: { yaml: 'steps:\n  - command: make test\n' },
      tags: [],
      description: '',
      defaultTimeoutInMinutes: null,
      skipIntermediateBuilds: false,
      allowRebuilds: true,
    }
    const { pipelineUpdate } = await ask(pipelineDocuments.update, { input: update })
    const updated = await show(`/pipelines/${made.slug}`)
    expect(pipelineUpdate?.pipeline).toMatchObject(asGraphql(updated, clusterRow))
    expect(updated).toMatchObject({
      slug: made.slug,
      configuration: 'steps:\n  - command: make test\n',
      tags: [],
      description: '',
      default_branch: 'trunk',
      default_command_step_timeout: null,
      skip_queued_branch_builds: false,
      allow_rebuilds: true,
    })

    await ask(pipelineDocuments.archive, { id: made.id })
    expect((await show(`/pipelines/${made.slug}`)).archived_at).not.toBeNull()
    await ask(pipelineDocuments.unarchive, { id: made.id })
    expect((await show(`/pipelines/${made.slug}`)).archived_at).toBeNull()
    await ask(pipelineDocuments.delete, { id: made.id })
    expect(await show(`/pipelines/${made.slug}`)).toEqual({ status: 404 })
    expect(await nodeOf(made.id)).toBeNull()
  })

  it('is written with every field, empty where nothing is set', async () => {
    const empty = {
      clientMutationId: '',
      allowRebuilds: false,
      branchConfiguration: null,
      cancelIntermediateBuilds: false,
      cancelIntermediateBuildsBranchFilter: '',
      cloneMirrorUrl: null,
      clusterId: null,
      color: null,
      defaultBranch: '',
      defaultTimeoutInMinutes: null,
      description: '',
      emoji: null,
      maximumTimeoutInMinutes: null,
      repository: { url: 'https://git.example.com/empty.git' },
      skipIntermediateBuilds: false,
      skipIntermediateBuildsBranchFilter: '',
      steps: { yaml: 'steps: []' },
      tags: null,
    }
    // The only cluster of an organization need not be named.
    const small = await anOrganization(app)
    const owner = await anAdmin(app, small)
    await aCluster(app, small, owner)
    const ask = (document: string, variables: Record<string, unknown>) =>
      graphqlData(app, owner.token, document, variables)
    const name = unique('empty')
    const input = { ...empty, organizationId: btoa(`Organization---${small.id}`), name, teams: [] }
    const { pipelineCreate } = await ask(pipelineDocuments.create, { input })
    const made = pipelineCreate?.pipeline ?? {}
    const update = { ...empty, id: made.id, name: `${name} renamed`, pipelineTemplateId: null }
    const { pipelineUpdate } = await ask(pipelineDocuments.update, { input: update })
    expect(pipelineUpdate?.pipeline).toMatchObject({
      id: made.id,
      name: `${name} renamed`,
      branchConfiguration: null,
      defaultTimeoutInMinutes: null,
      steps: { yaml: 'steps: []' },
      tags: [],
    })
  })

  it('has the settings of its host', async () => {
    const body = {
      name: unique('hosted'),
      cluster_id: (await aCluster(app, org, admin)).id,
      repository: 'https://github.com/acme/app.git',
      configuration: 'steps: []',
      provider_settings: { build_tags: true, build_pull_request_forks: true, filter_enabled: true },
    }
    const { body: made } = await app.request('POST', `${org.path}/pipelines`, { token: admin.token, body })
    const { node } = await ask(pipelineDocuments.providerSettings, { id: made.graphql_id })
    const provider = node?.repository?.provider
    expect(provider).toMatchObject({ __typename: 'RepositoryProviderGithub' })
    expect(provider?.settings).toMatchObject({
      buildTags: true,
      buildPullRequestForks: true,
      filterEnabled: true,
      triggerMode: made.provider?.settings?.trigger_mode,
      publishCommitStatus: made.provider?.settings?.publish_commit_status,
    })
    const plain = await aPipeline(app, org, 'steps: []')
    const id = btoa(`Pipeline---${plain.id}`)
    const other = await ask(pipelineDocuments.providerSettings, { id })
    expect(other.node?.repository?.provider).toMatchObject({ __typename: 'RepositoryProviderUnknown' })
  })

  it('is found by search, repository, cluster, tags and whether it is archived', async () => {
    const cluster = await aCluster(app, org, admin)
    const at = { cluster_id: cluster.id, tags: ['find-me', 'twice'] }
    const one = await aPipeline(app, org, 'steps: []', { ...at, name: 'Needle One' })
    const two = await aPipeline(app, org, 'steps: []', {
      ...at,
      name: 'Needle Two',
      tags: ['find-me'],
      repository: 'https://git.example.com/needle.git',
    })
    const old = await aPipeline(app, org, 'steps: []', {
      ...at,
      name: 'Needle Old',
      archived_at: '2026-01-01T00:00:00Z',
    })
    const slugs = async (variables: object): Promise<[unknown, string[]]> => {
      const { organization } = await ask(pipelineDocuments.list, { slug: org.slug, ...variables })
      const edges = organization?.pipelines?.edges as unknown as Array<{ node: { slug: string } }>
      return [organization?.pipelines?.count, edges.map(({ node }) => node.slug)]
    }
    expect(await slugs({ search: 'needle' })).toEqual([2, [one.slug, two.slug]])
    expect(await slugs({ cluster: btoa(`Cluster---${cluster.id}`) })).toEqual([2, [one.slug, two.slug]])
    expect(await slugs({ tags: ['find-me', 'twice'] })).toEqual([1, [one.slug]])
    expect(await slugs({ search: 'needle', archived: true })).toEqual([1, [old.slug]])
    const repository = { url: 'https://git.example.com/needle.git' }
    expect(await slugs({ repository })).toEqual([1, [two.slug]])
  })
})

describe('a pipeline schedule', () => {
  it('is created, found, updated and deleted', async () => {
    const pipeline = await aPipeline(app, org, 'steps: [{command: make}]')
    const fields = {
      label: 'Nightly',
      cronline: '0 3 * * *',
      message: 'At night',
      commit: 'HEAD',
      branch: 'main',
      env: 'FULL="true"\nEMPTY=\nURL=a=b',
      enabled: true,
    }
    const pipelineId = btoa(`Pipeline---${pipeline.id}`)
    const { pipelineScheduleCreate } = await ask(scheduleDocuments.create, { pipelineId, ...fields })
    const node = pipelineScheduleCreate?.pipelineScheduleEdge?.node ?? {}
    // In the order of the database.
    const env = ['URL=a=b', 'FULL=true', 'EMPTY=']
    expect(node).toEqual({ id: expect.any(String), ...fields, env })
    expect(pipelineScheduleCreate?.pipeline).toEqual({ id: pipelineId })
    const uuid = atob(String(node.id)).split('---')[1]
    const path = `/pipelines/${pipeline.slug}/schedules/${uuid}`
    expect(await show(path)).toMatchObject({
      graphql_id: node.id,
      label: 'Nightly',
      env: { FULL: 'true', EMPTY: '', URL: 'a=b' },
    })
    expect(await nodeOf(node.id)).toMatchObject({
      __typename: 'PipelineSchedule',
      label: 'Nightly',
      env,
      pipeline: { id: pipelineId },
    })
    const search = await ask(scheduleDocuments.search, { org: org.slug, search: pipeline.slug })
    expect(search.organization?.pipelines?.edges).toEqual([
      {
        node: {
          name: pipeline.slug,
          schedules: { edges: [{ node: { id: node.id, uuid, cronline: '0 3 * * *' } }] },
        },
      },
    ])

    const change = { ...fields, id: node.id, cronline: '0 4 * * *', env: '', enabled: false }
    await ask(scheduleDocuments.update, change)
    expect(await show(path)).toMatchObject({ cronline: '0 4 * * *', env: {}, enabled: false })
    const { pipelineScheduleDelete } = await ask(scheduleDocuments.delete, { id: node.id })
    expect(pipelineScheduleDelete).toEqual({ deletedPipelineScheduleID: node.id })
    expect(await show(path)).toEqual({ status: 404 })
  })
})

describe('a team', () => {
  const fields = {
    name: 'Platform',
    description: 'Builds things',
    privacy: 'SECRET',
    isDefaultTeam: false,
    defaultMemberRole: 'MAINTAINER',
    membersCanCreatePipelines: true,
  }

  it('is created, read, updated and deleted', async () => {
    const name = unique('Team')
    const { teamCreate } = await ask(teamDocuments.create, {
      organizationID: organizationId,
      ...fields,
      name,
    })
    const node = teamCreate?.teamEdge?.node ?? {}
    const row = await show(`/teams/${node.uuid}`)
    expect(row).toMatchObject({
      name,
      description: 'Builds things',
      privacy: 'secret',
      default: false,
      default_member_role: 'maintainer',
      members_can_create_pipelines: true,
    })
    const expected = { ...fields, name, id: row.graphql_id, uuid: row.id, slug: row.slug }
    expect(node).toEqual(expected)
    expect((await ask(teamDocuments.get, { slug: `${org.slug}/${row.slug}` })).team).toEqual(expected)
    expect(await ask(teamDocuments.get, { slug: `${org.slug}/none` })).toEqual({ team: null })
    expect(await nodeOf(node.id)).toEqual({ __typename: 'Team', ...expected })
    const listed = await ask(teamDocuments.list, { slug: org.slug })
    expect(listed.organization?.teams?.edges).toContainEqual({ node: expected })

    const { teamUpdate } = await ask(teamDocuments.update, {
      ...fields,
      id: node.id,
      name,
      privacy: 'VISIBLE',
      description: null,
    })
    expect(teamUpdate?.team).toMatchObject({ privacy: 'VISIBLE' })
    expect(await show(`/teams/${node.uuid}`)).toMatchObject({ privacy: 'visible', description: '' })
    expect((await ask(teamDocuments.delete, { id: node.id })).teamDelete).toEqual({ deletedTeamID: node.id })
    expect(await show(`/teams/${node.uuid}`)).toEqual({ status: 404 })
  })

  it('gets and loses members', async () => {
    const team = await aTeam(app, org, admin)
    const user = await aMember(app, org)
    const [teamID, userID] = [btoa(`Team---${team.id}`), btoa(`User---${user.id}`)]
    const { teamMemberCreate } = await ask(teamMemberDocuments.create, { teamID, userID, role: 'MEMBER' })
    const node = teamMemberCreate?.teamMemberEdge?.node ?? {}
    const expected = {
      id: node.id,
      uuid: node.uuid,
      team: { id: teamID },
      user: { id: userID },
      role: 'MEMBER',
    }
    expect(node).toEqual(expected)
    expect(node.uuid).toMatch(/^[0-9a-f-]{36}$/)
    const path = `/teams/${team.id}/members/${user.id}`
    expect(await show(path)).toMatchObject({ role: 'member' })
    expect(await nodeOf(node.id)).toEqual({ __typename: 'TeamMember', ...expected })
    await ask(teamMemberDocuments.update, { id: node.id, role: 'MAINTAINER' })
    expect(await show(path)).toMatchObject({ role: 'maintainer' })
    const variables = { slug: org.slug, team: `${org.slug}/${team.slug}` }
    const { organization } = await ask(organizationDocuments.members, variables)
    expect(organization?.members?.edges).toEqual([
      { node: { user: { id: userID, uuid: user.id, name: user.name, email: user.email } } },
    ])
    await ask(teamMemberDocuments.delete, { id: node.id })
    expect(await show(path)).toEqual({ status: 404 })
    expect(await nodeOf(node.id)).toBeNull()
  })

  it('gets and loses pipelines', async () => {
    const team = await aTeam(app, org, admin)
    const pipeline = await aPipeline(app, org, 'steps: []')
    const [teamID, pipelineID] = [btoa(`Team---${team.id}`), btoa(`Pipeline---${pipeline.id}`)]
    const { teamPipelineCreate } = await ask(teamPipelineDocuments.create, { teamID, pipelineID })
    const node = teamPipelineCreate?.teamPipelineEdge?.node ?? {}
    const expected = {
      id: node.id,
      uuid: node.uuid,
      pipelineAccessLevel: 'READ_ONLY',
      team: { id: teamID },
      pipeline: { id: pipelineID },
    }
    expect(node).toEqual(expected)
    const path = `/teams/${team.id}/pipelines/${pipeline.id}`
    expect(await show(path)).toMatchObject({ access_level: 'read_only' })
    expect(await nodeOf(node.id)).toEqual({ __typename: 'TeamPipeline', ...expected })
    const found = await ask(pipelineDocuments.teamIds, {
      slug: `${org.slug}/${pipeline.slug}`,
      search: team.slug,
    })
    expect(found.pipeline?.teams?.edges).toEqual([{ node: { id: node.id, team: { slug: team.slug } } }])
    await ask(teamPipelineDocuments.update, { id: node.id, accessLevel: 'MANAGE_BUILD_AND_READ' })
    expect(await show(path)).toMatchObject({ access_level: 'manage_build_and_read' })
    const { teamPipelineDelete } = await ask(teamPipelineDocuments.delete, { id: node.id })
    expect(teamPipelineDelete).toEqual({ deletedTeamPipelineID: node.id, clientMutationId: null })
    expect(await show(path)).toEqual({ status: 404 })
  })
})

describe('a cluster', () => {
  it('is created, read, updated and deleted', async () => {
    const fields = { name: unique('cluster'), description: 'Machines', emoji: ':rocket:', color: '#FFE0F1' }
    const { clusterCreate } = await ask(clusterDocuments.create, { organizationId, ...fields })
    const made = clusterCreate?.cluster ?? {}
    const path = `/clusters/${made.uuid}`
    expect(await show(path)).toMatchObject({ ...fields, graphql_id: made.id })
    expect(made).toEqual({ id: made.id, uuid: made.uuid, ...fields })
    for (const id of [made.id, made.uuid]) {
      const { organization } = await ask(clusterDocuments.get, { orgSlug: org.slug, id })
      expect(organization?.cluster).toEqual(made)
    }
    expect(await nodeOf(made.id)).toEqual({ __typename: 'Cluster', ...made })
    const queue = await aQueue(app, { path: `${org.path}${path}` }, admin, { key: 'default' })
    const queueId = btoa(`ClusterQueue---${queue.id}`)
    const set = await ask(clusterDocuments.setDefaultQueue, { organizationId, id: made.id, queueId })
    expect(set.clusterUpdate?.cluster).toEqual({
      id: made.id,
      defaultQueue: { id: queueId, key: 'default' },
    })
    const { organization } = await ask(clusterDocuments.list, { slug: org.slug })
    expect(organization?.clusters?.edges).toContainEqual({
      node: { ...made, defaultQueue: { id: queueId, uuid: queue.id, key: 'default', description: null } },
    })
    const change = { organizationId, id: made.id, name: fields.name, description: 'More', emoji: null }
    await ask(clusterDocuments.update, change)
    expect(await show(path)).toMatchObject({ description: 'More', emoji: null, default_queue_id: queue.id })
    await ask(clusterDocuments.delete, { organizationId, id: made.id })
    expect(await show(path)).toEqual({ status: 404 })
  })

  it('has queues that are paused and resumed', async () => {
    const cluster = await aCluster(app, org, admin)
    const clusterId = btoa(`Cluster---${cluster.id}`)
    const create = { organizationId, clusterId, key: 'linux', description: 'Fast' }
    const { clusterQueueCreate } = await ask(queueDocuments.create, create)
    const made = clusterQueueCreate?.clusterQueue ?? {}
    expect(made).toEqual({
      id: made.id,
      uuid: made.uuid,
      key: 'linux',
      description: 'Fast',
      cluster: { id: clusterId, uuid: cluster.id },
      hosted: false,
      hostedAgents: null,
    })
    const path = `/clusters/${cluster.id}/queues/${made.uuid}`
    expect(await show(path)).toMatchObject({ graphql_id: made.id, key: 'linux', description: 'Fast' })
    await aQueue(app, cluster, admin, { key: 'arm' })
    const free = {
      dispatchPaused: false,
      dispatchPausedAt: null,
      dispatchPausedBy: null,
      dispatchPausedNote: null,
    }
    const { organization } = await ask(queueDocuments.list, { orgSlug: org.slug, id: cluster.id })
    const edges = organization?.cluster?.queues?.edges as unknown as Array<{ node: Json }>
    expect(edges.map(({ node }) => node.key)).toEqual(['arm', 'linux'])
    expect(edges[1]?.node).toEqual({ ...made, ...free })

    await ask(queueDocuments.pause, { id: made.id })
    const paused = await show(path)
    expect(paused.dispatch_paused).toBe(true)
    expect((await ask(queueDocuments.node, { id: made.id })).node).toEqual({
      ...made,
      dispatchPaused: true,
      dispatchPausedAt: paused.dispatch_paused_at,
      dispatchPausedBy: { id: btoa(`User---${admin.id}`) },
      dispatchPausedNote: null,
    })
    await ask(queueDocuments.resume, { id: made.id })
    expect((await show(path)).dispatch_paused).toBe(false)
    const change = { organizationId, id: made.id, description: 'Slow' }
    const { clusterQueueUpdate } = await ask(queueDocuments.update, change)
    expect(clusterQueueUpdate?.clusterQueue).toEqual({ ...made, ...free, description: 'Slow' })
    expect((await show(path)).description).toBe('Slow')
    await ask(queueDocuments.delete, { organizationId, id: made.id })
    expect(await show(path)).toEqual({ status: 404 })
  })

  it('has agent tokens', async () => {
    const cluster = await aCluster(app, org, admin)
    const clusterId = btoa(`Cluster---${cluster.id}`)
    const create = { organizationId, clusterId, description: 'Windows', allowedIpAddresses: '10.0.0.0/8' }
    const { clusterAgentTokenCreate } = await ask(tokenDocuments.create, create)
    const made = clusterAgentTokenCreate?.clusterAgentToken ?? {}
    expect(clusterAgentTokenCreate?.tokenValue).toMatch(/^mrct_/)
    expect(made).toEqual({
      allowedIpAddresses: '10.0.0.0/8',
      cluster: { id: clusterId, uuid: cluster.id },
      description: 'Windows',
      id: made.id,
      uuid: made.uuid,
    })
    const path = `/clusters/${cluster.id}/tokens/${made.uuid}`
    expect(await show(path)).toMatchObject({ graphql_id: made.id, description: 'Windows' })
    const { organization } = await ask(tokenDocuments.list, { orgSlug: org.slug, id: clusterId })
    expect(organization?.cluster?.agentTokens?.edges).toEqual([{ node: made }])
    expect(await nodeOf(made.id)).toEqual({ __typename: 'ClusterToken', ...made })
    await ask(tokenDocuments.update, { organizationId, id: made.id, description: 'Linux' })
    expect(await show(path)).toMatchObject({ description: 'Linux', allowed_ip_addresses: '10.0.0.0/8' })
    const { clusterAgentTokenRevoke } = await ask(tokenDocuments.revoke, { organizationId, id: made.id })
    expect(clusterAgentTokenRevoke).toEqual({ deletedClusterAgentTokenId: made.id })
    expect(await show(path)).toEqual({ status: 404 })
  })
})

describe('a pipeline template', () => {
  it('is created, read, updated and deleted', async () => {
    const fields = { name: unique('template'), configuration: 'steps: []', description: 'For all' }
    const { pipelineTemplateCreate } = await ask(templateDocuments.create, { organizationId, ...fields })
    const made = pipelineTemplateCreate?.pipelineTemplate ?? {}
    expect(made).toEqual({ id: made.id, uuid: made.uuid, available: false, ...fields })
    const path = `/pipeline-templates/${made.uuid}`
    expect(await show(path)).toMatchObject({ ...fields, graphql_id: made.id, available: false })
    expect(await nodeOf(made.id)).toEqual({ __typename: 'PipelineTemplate', ...made })
    const { organization } = await ask(templateDocuments.list, { slug: org.slug })
    expect(organization?.pipelineTemplates?.edges).toContainEqual({ node: made })
    await ask(templateDocuments.update, { organizationId, id: made.id, available: true })
    expect(await show(path)).toMatchObject({ ...fields, available: true })
    await ask(templateDocuments.delete, { organizationId, id: made.id })
    expect(await show(path)).toEqual({ status: 404 })
  })
})

describe('a rule', () => {
  it.each([
    ['an object', (value: object): unknown => value],
    ['a text', (value: object): unknown => JSON.stringify(value)],
  ])('is created from %s, read and deleted', async (_, write) => {
    const [source, target] = [await aPipeline(app, org, 'steps: []'), await aPipeline(app, org, 'steps: []')]
    const { ruleCreate } = await ask(ruleDocuments.create, {
      organizationId,
      ruleType: 'pipeline.trigger_build.pipeline',
      value: write({ source_pipeline: source.id, target_pipeline: target.id }),
    })
    const made = ruleCreate?.rule ?? {}
    expect(made).toEqual({
      id: made.id,
      uuid: made.uuid,
      type: 'pipeline.trigger_build.pipeline',
      sourceType: 'PIPELINE',
      targetType: 'PIPELINE',
      effect: 'ALLOW',
      action: 'TRIGGER_BUILD',
      source: { uuid: source.id },
      target: { uuid: target.id },
    })
    expect(await show(`/rules/${made.uuid}`)).toMatchObject({
      graphql_id: made.id,
      source_uuid: source.id,
      target_uuid: target.id,
    })
    expect(await nodeOf(made.id)).toEqual({ __typename: 'Rule', ...made })
    await ask(ruleDocuments.delete, { organizationId, id: made.id })
    expect(await show(`/rules/${made.uuid}`)).toEqual({ status: 404 })
  })
})

describe('a rule of version 1.38', () => {
  it('keeps its document as it was written, and is updated', async () => {
    const [source, target] = [await aPipeline(app, org, 'steps: []'), await aPipeline(app, org, 'steps: []')]
    const ruleType = 'pipeline.artifacts_read.pipeline'
    const value = `{"target_pipeline":"${target.slug}","source_pipeline":"${source.id}"}`
    const create = { organizationId, ruleType, description: 'Before', value }
    const { ruleCreate } = await ask(providerDocument('createOrganizationRule'), create)
    const made = ruleCreate?.rule ?? {}
    expect(made).toMatchObject({ description: 'Before', document: `{"rule":"${ruleType}","value":${value}}` })
    expect((await ask(providerDocument('getOrganizationRule'), { uuid: made.uuid })).rule).toEqual(made)
    const changed = `{"source_pipeline":"${target.slug}","target_pipeline":"${source.slug}"}`
    const change = { organizationId, id: made.id, description: null, value: changed }
    const { ruleUpdate } = await ask(providerDocument('updateOrganizationRule'), change)
    expect(ruleUpdate?.rule).toEqual({
      ...made,
      description: null,
      document: `{"rule":"${ruleType}","value":${changed}}`,
      source: { uuid: target.id },
      target: { uuid: source.id },
    })
  })
})

describe('a test suite', () => {
  it('has teams that are added, changed and removed', async () => {
    const [owner, reader] = [await aTeam(app, org, admin), await aTeam(app, org, admin)]
    const { body } = await app.request('POST', `${org.path}/suites`, {
      token: admin.token,
      body: { name: unique('suite'), default_branch: 'main', emoji: ':rocket:', team_ids: [owner.id] },
    })
    const suiteId = body.graphql_id
    const [ownerId, teamId] = [owner, reader].map(({ id }) => btoa(`Team---${id}`))
    const create = { suiteId, teamId, accessLevel: 'READ_ONLY' }
    const { teamSuiteCreate } = await ask(providerDocument('createTestSuiteTeam'), create)
    const made = teamSuiteCreate?.teamSuite ?? {}
    expect(made).toEqual({
      id: made.id,
      teamSuiteUuid: made.teamSuiteUuid,
      accessLevel: 'READ_ONLY',
      team: { id: teamId },
      suite: { id: suiteId },
    })
    const { suite } = await ask(providerDocument('getTestSuite'), { id: suiteId, teamCount: 50 })
    expect(suite).toMatchObject({
      id: suiteId,
      uuid: body.id,
      defaultBranch: 'main',
      emoji: ':rocket:',
      name: body.name,
      slug: body.slug,
    })
    const edges = suite?.teams?.edges as unknown as Array<{ node: Json }>
    expect(new Map(edges.map(({ node }) => [node.team?.id, node.accessLevel]))).toEqual(
      new Map([
        [ownerId, 'MANAGE_AND_READ'],
        [teamId, 'READ_ONLY'],
      ]),
    )
    const change = { id: made.id, accessLevel: 'MANAGE_AND_READ' }
    const { teamSuiteUpdate } = await ask(providerDocument('updateTestSuiteTeam'), change)
    expect(teamSuiteUpdate?.teamSuite).toMatchObject({ accessLevel: 'MANAGE_AND_READ' })
    const { node } = await ask(providerDocument('getNode'), { id: made.id })
    expect(node).toEqual({ ...made, accessLevel: 'MANAGE_AND_READ' })
    await ask(providerDocument('deleteTestSuiteTeam'), { id: made.id })
    expect(await show(`/teams/${reader.id}/suites/${String(body.id)}`)).toEqual({ status: 404 })
  })
})

describe('what Millrace does not have', () => {
  it('is null where it is read', async () => {
    expect(await ask(providerDocument('getAgentToken'), { slug: 'x' })).toEqual({ agentToken: null })
    expect(await ask(providerDocument('GetRegistryID'), { slug: 'x' })).toEqual({ registry: null })
  })

  it('is refused with the reason where it is used', async () => {
    const refusal = async (name: string, variables: object) =>
      (await graphql(app, admin.token, providerDocument(name), { ...variables })).messages
    const noTokens = [expect.stringContaining('There are no agent tokens outside of clusters.')]
    expect(await refusal('createAgentToken', { organizationId })).toEqual(noTokens)
    expect(await refusal('revokeAgentToken', { id: 'x', reason: 'x' })).toEqual(noTokens)
    const enforce = { organizationID: organizationId, value: true }
    expect(await refusal('setOrganization2FA', enforce)).toEqual([
      expect.stringContaining('Millrace has no second factor of its own'),
    ])
    const none = await ask(providerDocument('setOrganization2FA'), { ...enforce, value: false })
    expect(none).toEqual({
      organizationEnforceTwoFactorAuthenticationForMembersUpdate: {
        organization: { membersRequireTwoFactorAuthentication: false },
      },
    })
  })
})

describe('an organization', () => {
  it('is read, and its allowed addresses are set', async () => {
    const expected = { id: organizationId, uuid: org.id }
    expect(await ask(organizationDocuments.get, { slug: org.slug })).toEqual({
      organization: {
        ...expected,
        allowedApiIpAddresses: null,
        membersRequireTwoFactorAuthentication: false,
      },
    })
    const set = (ipAddresses: string) =>
      ask(organizationDocuments.setIpAddresses, { organizationID: organizationId, ipAddresses })
    expect((await set('127.0.0.0/8 ::1/128')).organizationApiIpAllowlistUpdate?.organization).toEqual({
      ...expected,
      allowedApiIpAddresses: '127.0.0.0/8 ::1/128',
    })
    expect((await show('/api-settings')).allowed_ip_addresses).toBe('127.0.0.0/8 ::1/128')
    await set('')
    expect((await show('/api-settings')).allowed_ip_addresses).toBeNull()
    expect(await nodeOf(organizationId)).toEqual({
      __typename: 'Organization',
      id: organizationId,
      slug: org.slug,
    })
  })

  it('has a banner', async () => {
    const own = await anOrganization(app)
    const { token } = await anAdmin(app, own)
    const ownId = btoa(`Organization---${own.id}`)
    const run = (name: string, variables: Record<string, unknown>) =>
      graphqlData(app, token, providerDocument(name), variables)
    const bannersOf = async () =>
      (await run('getOrganiztionBanner', { orgSlug: own.slug })).organization?.banners?.edges
    expect(await bannersOf()).toEqual([])
    const { organizationBannerUpsert } = await run('upsertBanner', {
      organizationId: ownId,
      message: 'Hello',
    })
    const banner = organizationBannerUpsert?.banner
    expect(banner).toEqual({ id: expect.any(String), uuid: expect.any(String), message: 'Hello' })
    expect(await bannersOf()).toEqual([{ node: banner }])
    await run('deleteBanner', { organizationId: ownId })
    expect(await bannersOf()).toEqual([])
    const again = await graphql(app, token, providerDocument('deleteBanner'), { organizationId: ownId })
    expect(again.messages).toEqual([expect.stringContaining('does not have an active banner')])
  })

  it('has members, by e-mail address and by role', async () => {
    const own = await anOrganization(app)
    const { token, id } = await anAdmin(app, own)
    const member = await aMember(app, own)
    const shown = (user: { id: string; name: string; email: string }) => ({
      node: { user: { id: btoa(`User---${user.id}`), uuid: user.id, name: user.name, email: user.email } },
    })
    const edgesOf = async (document: string, variables: object) =>
      (await graphqlData(app, token, document, { slug: own.slug, ...variables })).organization?.members?.edges
    expect(await edgesOf(organizationDocuments.member, { email: member.email })).toEqual([shown(member)])
    expect(await edgesOf(organizationDocuments.members, { role: ['MEMBER'] })).toEqual([shown(member)])
    const all = (await edgesOf(organizationDocuments.members, {})) as unknown as Array<
      ReturnType<typeof shown>
    >
    expect(all.map(({ node }) => node.user.uuid).toSorted()).toEqual([id, member.id].toSorted())
  })

  it('has members whose avatars are empty', async () => {
    const document = /* GraphQL */ `
      query Avatars($slug: ID!) {
        organization(slug: $slug) {
          members(first: 1) {
            edges {
              node {
                user {
                  avatar {
                    url
                  }
                }
              }
            }
          }
        }
      }
    `
    const { organization } = await ask(document, { slug: org.slug })
    expect(organization?.members?.edges).toEqual([{ node: { user: { avatar: { url: '' } } } }])
  })
})

describe('an id', () => {
  it('of no object is null, and of another type is refused by name', async () => {
    for (const id of ['', 'nonsense', btoa('Pipeline---x'), btoa(`Martian---${org.id}`)]) {
      expect(await nodeOf(id)).toBeNull()
    }
    const answer = await graphql(app, admin.token, teamDocuments.delete, { id: organizationId })
    expect(answer.messages).toEqual([`"${organizationId}" is not the id of a Team.`])
  })
})
