// The documents that the agent's `tool sign` and `bk` send. The answers are compared with REST's.
import { describe, expect, it } from 'vitest'
import { anAgent, anAgentWorld } from '../../test/agent-client.ts'
import { useApp } from '../../test/app.ts'
import { aMember, anAdmin, anOrganization, aPipeline, aQueue, aTeam } from '../../test/builders.ts'
import { graphql, graphqlData } from '../../test/graphql/client.ts'
import { agentDocuments, bkDocuments } from '../../test/graphql/documents.ts'
import { aRunningJob } from '../../test/job-runs.ts'
import { aBuild } from '../../test/runs.ts'

const app = useApp()

describe('buildkite-agent tool sign', () => {
  it('reads a pipeline and replaces its steps', async () => {
    const org = await anOrganization(app)
    const { token } = await anAdmin(app, org)
    const pipeline = await aPipeline(app, org, 'steps:\n  - command: make\n')
    const slug = `${org.slug}/${pipeline.slug}`

    const read = await graphqlData(app, token, agentDocuments.getPipeline, { orgPipelineSlug: slug })
    const shown = (await app.request('GET', pipeline.path, { token })).body
    expect(read.pipeline).toEqual({
      id: shown.graphql_id,
      repository: { url: shown.repository },
      steps: { yaml: shown.configuration },
    })

    const yaml = 'steps:\n  - command: make test\n'
    const written = await graphqlData(app, token, agentDocuments.updatePipeline, {
      id: read.pipeline?.id,
      yaml,
    })
    expect(written).toEqual({ pipelineUpdate: { clientMutationId: null, pipeline: { steps: { yaml } } } })
    expect((await app.request('GET', pipeline.path, { token })).body.configuration).toBe(yaml)
  })

  it('finds null for a pipeline that does not exist', async () => {
    const org = await anOrganization(app)
    const { token } = await anAdmin(app, org)
    const variables = { orgPipelineSlug: `${org.slug}/none` }
    expect(await graphqlData(app, token, agentDocuments.getPipeline, variables)).toEqual({ pipeline: null })
  })

  it('is told why the new steps are refused', async () => {
    const org = await anOrganization(app)
    const { token } = await anAdmin(app, org)
    const pipeline = await aPipeline(app, org, 'steps: []')
    const answer = await graphql(app, token, agentDocuments.updatePipeline, {
      id: btoa(`Pipeline---${pipeline.id}`),
      yaml: 'steps: [{command: make, colour: red}, {wait: {',
    })
    expect([answer.status, answer.errors[0]?.path, answer.errors[0]?.extensions?.status]).toEqual([
      200,
      ['pipelineUpdate'],
      422,
    ])
    expect(answer.messages[0]).toMatch(/^Validation Failed: configuration /)
  })
})

describe('bk', () => {
  it('finds the organization, its clusters, their queues and the agents of a queue', async () => {
    const { org, admin, cluster, token: clusterToken } = await anAgentWorld(app)
    const { token } = admin
    const organization = (await app.request('GET', org.path, { token })).body
    expect(await graphqlData(app, token, bkDocuments.organizationId, { slug: org.slug })).toEqual({
      organization: { id: organization.graphql_id },
    })

    const clusterId = btoa(`Cluster---${cluster.id}`)
    const clusters = await graphqlData(app, token, bkDocuments.findClusters, { org: org.slug })
    expect(clusters.organization?.clusters?.edges).toContainEqual({
      node: { id: clusterId, name: cluster.name },
    })

    const { list: queues } = await app.request('GET', `${cluster.path}/queues`, { token })
    const found = await graphqlData(app, token, bkDocuments.findQueues, { clusterId })
    expect(found.node?.queues?.edges).toEqual(
      queues.map(({ graphql_id, key }) => ({ node: { id: graphql_id, key } })),
    )
    const variables = { orgSlug: org.slug, clusterId }
    const listed = await graphqlData(app, token, bkDocuments.clusterQueues, variables)
    expect(listed.organization?.cluster?.queues?.edges).toEqual(
      queues.map(({ id, graphql_id, key, description }) => ({
        node: { id: graphql_id, uuid: id, key, description },
      })),
    )

    await anAgent(app, clusterToken)
    const [agent] = (await app.request('GET', `${org.path}/agents`, { token })).list
    const [queue] = queues
    const agents = await graphqlData(app, token, bkDocuments.queueAgents, {
      orgSlug: org.slug,
      queueId: [queue?.graphql_id],
    })
    expect(agents.organization?.agents?.edges).toEqual([
      {
        node: {
          name: agent?.name,
          hostname: agent?.hostname,
          version: agent?.version,
          id: agent?.graphql_id,
          clusterQueue: { id: queue?.graphql_id, uuid: queue?.id },
        },
      },
    ])
  })

  it('pages through clusters by cursor', async () => {
    const org = await anOrganization(app)
    const { token } = await anAdmin(app, org)
    const names = ['one', 'two', 'three', 'four', 'five']
    for (const name of names) {
      await app.request('POST', `${org.path}/clusters`, { token, body: { name } })
    }
    const document = /* GraphQL */ `
      query Page($org: ID!, $first: Int, $after: String) {
        organization(slug: $org) {
          clusters(first: $first, after: $after) {
            count
            edges {
              cursor
              node {
                name
              }
            }
            pageInfo {
              hasNextPage
              hasPreviousPage
              startCursor
              endCursor
            }
          }
        }
      }
    `
    const read: string[] = []
    let after: unknown = null
    for (const expected of [2, 2, 1]) {
      const page = await graphqlData(app, token, document, { org: org.slug, first: 2, after })
      const { edges, pageInfo, count } = page.organization?.clusters ?? {}
      const rows = edges as unknown as Array<{ cursor: string; node: { name: string } }>
      expect([rows.length, count]).toEqual([expected, 5])
      expect(pageInfo).toEqual({
        hasNextPage: read.length + expected < 5,
        hasPreviousPage: read.length > 0,
        startCursor: rows[0]?.cursor,
        endCursor: rows.at(-1)?.cursor,
      })
      read.push(...rows.map(({ node }) => node.name))
      after = pageInfo?.endCursor
    }
    expect(read).toEqual(names)
    // A page that begins inside a page of REST.
    const start = await graphqlData(app, token, document, { org: org.slug, first: 1 })
    const rest = await graphqlData(app, token, document, {
      org: org.slug,
      first: 3,
      after: start.organization?.clusters?.pageInfo?.endCursor,
    })
    const edges = rest.organization?.clusters?.edges as unknown as Array<{ node: { name: string } }>
    expect(edges.map(({ node }) => node.name)).toEqual(['two', 'three', 'four'])
  })

  it('finds a user by e-mail address', async () => {
    const org = await anOrganization(app)
    const { token } = await anAdmin(app, org)
    const ada = await aMember(app, org)
    await aMember(app, org)
    const variables = { organization: org.slug, email: ada.email.toUpperCase() }
    const { organization } = await graphqlData(app, token, bkDocuments.userByEmail, variables)
    expect(organization?.members?.edges).toEqual([{ node: { user: { id: btoa(`User---${ada.id}`) } } }])
  })

  it('lists jobs by queue, by state and by rules', async () => {
    const scene = await aRunningJob(app)
    const { org, admin, cluster, run } = scene
    const { token } = admin
    const job = (await app.request('GET', scene.short, { token })).body
    const agent = (await app.request('GET', `${org.path}/agents/${job.agent?.id}`, { token })).body
    const { list: queues } = await app.request('GET', `${cluster.path}/queues`, { token })
    const node = {
      id: job.graphql_id,
      uuid: run.id,
      command: job.command,
      state: 'RUNNING',
      exitStatus: null,
      url: job.web_url,
      startedAt: job.started_at,
      finishedAt: null,
      createdAt: job.created_at,
      agent: { id: agent.graphql_id, name: agent.name, hostname: agent.hostname, metaData: agent.meta_data },
    }
    const place = {
      cluster: { id: btoa(`Cluster---${cluster.id}`), name: cluster.name },
      clusterQueue: { id: queues[0]?.graphql_id, key: queues[0]?.key },
    }
    const edgesOf = async (document: string, variables: object) => {
      const { organization } = await graphqlData(app, token, document, {
        org: org.slug,
        first: 10,
        ...variables,
      })
      return organization?.jobs?.edges
    }
    const onQueue = { clusterQueue: [queues[0]?.graphql_id], state: ['RUNNING'] }
    expect(await edgesOf(bkDocuments.jobsByQueue, onQueue)).toEqual([{ node: { ...node, ...place } }])
    expect(await edgesOf(bkDocuments.jobsByState, { state: ['RUNNING', 'CANCELING'] })).toEqual([
      { node: { ...node, label: 'Tests', ...place } },
    ])
    expect(await edgesOf(bkDocuments.jobsByState, { state: ['FINISHED'] })).toEqual([])
    const rules = { agentQueryRules: ['queue=default'] }
    expect(await edgesOf(bkDocuments.jobsByRules, { ...rules, state: ['RUNNING'] })).toEqual([{ node }])
    expect(await edgesOf(bkDocuments.jobsByRules, { agentQueryRules: ['os=plan9'] })).toEqual([])

    const other = await aQueue(app, cluster, admin)
    const elsewhere = { clusterQueue: [btoa(`ClusterQueue---${other.id}`)] }
    expect(await edgesOf(bkDocuments.jobsByQueue, elsewhere)).toEqual([])
  })

  it('cancels and retries a job, by the ids that it makes itself', async () => {
    const scene = await aRunningJob(app)
    const { token } = scene.admin
    const jobId = btoa(`JobTypeCommand---${scene.run.id}`)
    const canceled = await graphqlData(app, token, bkDocuments.cancelJob, { jobId })
    const job = (await app.request('GET', scene.short, { token })).body
    expect(['canceling', 'canceled']).toContain(job.state)
    expect(canceled.jobTypeCommandCancel).toEqual({
      clientMutationId: null,
      jobTypeCommand: {
        id: job.graphql_id,
        uuid: scene.run.id,
        state: String(job.state).toUpperCase(),
        url: job.web_url,
      },
    })
    const again = await graphql(app, token, bkDocuments.retryJob, { id: job.graphql_id })
    const refused = await app.request('PUT', `${scene.short}/retry`, { token })
    expect([again.messages, again.errors[0]?.extensions?.status]).toEqual([
      [refused.body.message],
      refused.status,
    ])
  })

  it('retries a failed job', async () => {
    const scene = await aRunningJob(app)
    const { token } = scene.admin
    await scene.run.finish(1)
    const { jobTypeCommandRetry } = await graphqlData(app, token, bkDocuments.retryJob, {
      id: btoa(`JobTypeCommand---${scene.run.id}`),
    })
    const job = (await app.request('GET', scene.short, { token })).body
    expect(job.retried).toBe(true)
    expect(jobTypeCommandRetry?.jobTypeCommand).toEqual({
      id: job.graphql_id,
      state: 'FINISHED',
      url: job.web_url,
    })
  })

  it('unblocks a job with fields as a text', async () => {
    const org = await anOrganization(app)
    const { token } = await anAdmin(app, org)
    const steps = 'steps: [{block: Ship, fields: [{text: Name, key: name}]}]'
    const pipeline = await aPipeline(app, org, steps)
    const build = await aBuild(app, org, pipeline)
    const path = `${pipeline.path}/builds/${build.number}`
    const shown = (await app.request('GET', path, { token })).body
    const job = shown.jobs?.[0] ?? {}
    const answer = await graphqlData(app, token, bkDocuments.unblockJob, {
      id: btoa(`JobTypeBlock---${job.id}`),
      fields: '{"name": "Glacier"}',
    })
    expect(answer.jobTypeBlockUnblock?.jobTypeBlock).toEqual({
      id: job.graphql_id,
      state: 'UNBLOCKED',
      isUnblockable: false,
      build: { url: shown.web_url },
    })
    expect((await app.request('GET', path, { token })).body.meta_data).toEqual({ name: 'Glacier' })
  })

  it('refuses to cancel a block job as a command', async () => {
    const org = await anOrganization(app)
    const { token } = await anAdmin(app, org)
    const pipeline = await aPipeline(app, org, 'steps: [{block: Ship}]')
    const build = await aBuild(app, org, pipeline)
    const shown = (await app.request('GET', `${pipeline.path}/builds/${build.number}`, { token })).body
    const answer = await graphql(app, token, bkDocuments.cancelJob, { jobId: shown.jobs?.[0]?.graphql_id })
    expect(answer.messages).toEqual(['The job is a JobTypeBlock, not a JobTypeCommand.'])
  })

  it('invites people', async () => {
    const org = await anOrganization(app)
    const { token } = await anAdmin(app, org)
    const emails = ['ada@example.com', 'bob@example.com']
    const organization = btoa(`Organization---${org.id}`)
    await graphqlData(app, token, bkDocuments.inviteUser, { organization, emails })
    const { list } = await app.request('GET', `${org.path}/invitations`, { token })
    expect(list.map(({ email }) => String(email)).toSorted()).toEqual(emails)
  })

  it('lists recent builds of a branch and the teams of a pipeline', async () => {
    const org = await anOrganization(app)
    const admin = await anAdmin(app, org)
    const { token } = admin
    const pipeline = await aPipeline(app, org, 'steps: [{command: make}]')
    for (const branch of ['main', 'other', 'main', 'main']) await aBuild(app, org, pipeline, { branch })
    const slug = `${org.slug}/${pipeline.slug}`
    const { list } = await app.request('GET', `${pipeline.path}/builds?branch=main&per_page=2`, { token })
    const builds = await graphqlData(app, token, bkDocuments.recentBuilds, {
      branch: 'main',
      pipelineSlug: slug,
    })
    expect(builds.pipeline?.builds?.edges).toEqual(
      list.map(({ id, graphql_id, message, number, web_url }) => ({
        node: { id: graphql_id, message, number, url: web_url, uuid: id },
      })),
    )
    const team = await aTeam(app, org, admin)
    const body = { pipeline_id: pipeline.id, access_level: 'build_and_read' }
    await app.request('POST', `${team.path}/pipelines`, { token, body })
    const teams = await graphqlData(app, token, bkDocuments.pipelineTeams, { slug })
    expect(teams.pipeline?.teams).toEqual({
      edges: [{ node: { accessLevel: 'BUILD_AND_READ', team: { uuid: team.id } } }],
      pageInfo: { hasNextPage: false, endCursor: expect.any(String) },
    })
  })

  it('is told why a webhook cannot be created, in the words of REST', async () => {
    const org = await anOrganization(app)
    const { token } = await anAdmin(app, org)
    const pipeline = await aPipeline(app, org, 'steps: []')
    const rest = await app.request('POST', `${pipeline.path}/webhook`, { token })
    const answer = await graphql(app, token, bkDocuments.createWebhook, {
      id: btoa(`Pipeline---${pipeline.id}`),
    })
    expect(rest.status).toBe(422)
    expect(answer.messages).toEqual([rest.body.message])
  })
})

describe('a job that waits', () => {
  it('says why and when it probably starts, as REST does', async () => {
    const { org, admin, token } = await anAgentWorld(app)
    const build = await aBuild(
      app,
      org,
      await aPipeline(app, org, '[{command: a}, {command: b, agents: ["gpu=1"]}]'),
    )
    await anAgent(app, token)
    const document = `query ($build: ID!) {
      build(slug: $build) { jobs(first: 10) { edges { node { ... on JobTypeCommand { uuid waiting {
        code reason jobsAhead eligibleAgents estimatedStartAt estimateUnknown { code reason } } } } } } }
    }`
    const { pipeline } = await buildOf(build.id)
    const { build: found } = await graphqlData(app, admin.token, document, {
      build: `${org.slug}/${pipeline}/${build.number}`,
    })
    const jobs = (found as unknown as FoundBuild).jobs.edges.map(({ node }) => node)
    expect(jobs).toHaveLength(2)
    for (const { uuid, waiting } of jobs) {
      const { body } = await app.request('GET', `${org.path}/jobs/${uuid}/waiting`, { token: admin.token })
      expect(waiting).toMatchObject({
        code: body.code,
        reason: body.reason,
        jobsAhead: body.jobs_ahead,
        eligibleAgents: body.eligible_agents,
        estimateUnknown: body.estimate_unknown,
      })
      expect(waiting.estimatedStartAt === null).toBe(body.estimated_start_at === null)
    }
    expect(jobs.map(({ waiting }) => waiting.estimateUnknown?.code)).toEqual([undefined, 'no_agent'])
  })
})

interface FoundBuild {
  jobs: {
    edges: Array<{
      node: {
        uuid: string
        waiting: { estimatedStartAt: string | null; estimateUnknown: { code: string } | null }
      }
    }>
  }
}

const buildOf = (id: string) =>
  app.db
    .selectFrom('builds as b')
    .innerJoin('pipelines as p', 'p.id', 'b.pipeline_id')
    .select('p.slug as pipeline')
    .where('b.id', '=', id)
    .executeTakeFirstOrThrow()
