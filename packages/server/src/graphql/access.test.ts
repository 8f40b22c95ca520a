// GraphQL gives no right that REST does not give: the same callers are refused with the same words.
import { beforeAll, describe, expect, it } from 'vitest'
import { useApp, type Json } from '../../test/app.ts'
import {
  aMember,
  anAdmin,
  anOrganization,
  aPipeline,
  aTeam,
  aToken,
  auditTrail,
  type TestUser,
} from '../../test/builders.ts'
import { graphql, graphqlData, type GraphqlAnswer } from '../../test/graphql/client.ts'
import { bkDocuments } from '../../test/graphql/documents.ts'
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
import { providerDocument } from '../../test/graphql/provider-operations.ts'
import { aBuild } from '../../test/runs.ts'
import { aWorld, type World } from '../../test/world.ts'
import { flushTokenCaches } from '../auth/access-watch.ts'
import { scopes } from '../auth/scopes.ts'
import { globalId } from './ids.ts'

const app = useApp()

let ours: World
let theirs: World
beforeAll(async () => {
  ours = await aWorld(app)
  theirs = await aWorld(app)
})

const schedule = {
  label: 'x',
  cronline: '@daily',
  message: '',
  commit: 'HEAD',
  branch: 'main',
  env: '',
  enabled: true,
}
const team = { name: 'x', privacy: 'VISIBLE', isDefaultTeam: false, defaultMemberRole: 'MEMBER' }

interface Change {
  name: string
  document: string
  /** The scope that REST wants. */
  scope: string
  variables: (world: World) => Promise<Record<string, unknown>> | Record<string, unknown>
}

const orgId = (world: World) => globalId('Organization', world.org.id)
const idOf = (type: string, key: string) => (world: World) => globalId(type, world.ids[key] ?? '')
const clusterId = idOf('Cluster', 'cluster')
const queueId = idOf('ClusterQueue', 'queue')
const tokenId = idOf('ClusterToken', 'token')
const teamId = idOf('Team', 'team')
const templateId = idOf('PipelineTemplate', 'template')
const ruleId = idOf('Rule', 'rule')
const scheduleId = idOf('PipelineSchedule', 'schedule')
const suiteId = idOf('Suite', 'team_suite')
const teamSuiteId = ({ ids }: World) => globalId('TeamSuite', ids['team'] ?? '', ids['team_suite'] ?? '')
const jobId = idOf('JobTypeCommand', 'job')

async function pipelineId({ ids }: World): Promise<string> {
  const { id } = await app.db
    .selectFrom('pipelines')
    .select('id')
    .where('slug', '=', ids['pipeline'] ?? '')
    .executeTakeFirstOrThrow()
  return globalId('Pipeline', id)
}

async function blockId({ org }: World): Promise<string> {
  const build = await aBuild(app, org, await aPipeline(app, org, 'steps: [{block: Go}]'))
  const { id } = await app.db
    .selectFrom('jobs')
    .select('id')
    .where('build_id', '=', build.id)
    .executeTakeFirstOrThrow()
  return globalId('JobTypeBlock', id)
}

/** Every mutation, with an id of the given world in each place. */
const changes: Change[] = [
  {
    name: 'pipelineCreate',
    document: pipelineDocuments.create,
    scope: 'write_pipelines',
    variables: (world) => ({
      input: {
        organizationId: orgId(world),
        name: 'x',
        repository: { url: 'https://git.example.com/x.git' },
      },
    }),
  },
  ...(['archive', 'unarchive', 'delete'] as const).map((action) => ({
    name: `pipeline ${action}`,
    document: pipelineDocuments[action],
    scope: 'write_pipelines',
    variables: async (world: World) => ({ id: await pipelineId(world) }),
  })),
  {
    name: 'pipelineUpdate',
    document: pipelineDocuments.update,
    scope: 'write_pipelines',
    variables: async (world) => ({ input: { id: await pipelineId(world), description: 'x' } }),
  },
  {
    name: 'pipelineCreateWebhook',
    document: bkDocuments.createWebhook,
    scope: 'write_pipelines',
    variables: async (world) => ({ id: await pipelineId(world) }),
  },
  {
    name: 'pipelineScheduleCreate',
    document: scheduleDocuments.create,
    scope: 'write_pipelines',
    variables: async (world) => ({ pipelineId: await pipelineId(world), ...schedule }),
  },
  {
    name: 'pipelineScheduleUpdate',
    document: scheduleDocuments.update,
    scope: 'write_pipelines',
    variables: (world) => ({ id: scheduleId(world), ...schedule }),
  },
  {
    name: 'pipelineScheduleDelete',
    document: scheduleDocuments.delete,
    scope: 'write_pipelines',
    variables: (world) => ({ id: scheduleId(world) }),
  },
  {
    name: 'teamCreate',
    document: teamDocuments.create,
    scope: 'write_teams',
    variables: (world) => ({ organizationID: orgId(world), ...team }),
  },
  {
    name: 'teamUpdate',
    document: teamDocuments.update,
    scope: 'write_teams',
    variables: (world) => ({ id: teamId(world), ...team }),
  },
  {
    name: 'teamDelete',
    document: teamDocuments.delete,
    scope: 'write_teams',
    variables: (world) => ({ id: teamId(world) }),
  },
  {
    name: 'teamMemberCreate',
    document: teamMemberDocuments.create,
    scope: 'write_teams',
    variables: (world) => ({ teamID: teamId(world), userID: globalId('User', world.admin.id) }),
  },
  {
    name: 'teamMemberUpdate',
    document: teamMemberDocuments.update,
    scope: 'write_teams',
    variables: ({ ids }) => ({
      id: globalId('TeamMember', ids['team'] ?? '', ids['user'] ?? ''),
      role: 'MAINTAINER',
    }),
  },
  {
    name: 'teamMemberDelete',
    document: teamMemberDocuments.delete,
    scope: 'write_teams',
    variables: ({ ids }) => ({ id: globalId('TeamMember', ids['team'] ?? '', ids['user'] ?? '') }),
  },
  {
    name: 'teamPipelineCreate',
    document: teamPipelineDocuments.create,
    scope: 'write_teams',
    variables: async (world) => ({ teamID: teamId(world), pipelineID: await pipelineId(world) }),
  },
  {
    name: 'teamPipelineUpdate',
    document: teamPipelineDocuments.update,
    scope: 'write_teams',
    variables: ({ ids }) => ({
      id: globalId('TeamPipeline', ids['team'] ?? '', ids['team_pipeline'] ?? ''),
      accessLevel: 'READ_ONLY',
    }),
  },
  {
    name: 'teamPipelineDelete',
    document: teamPipelineDocuments.delete,
    scope: 'write_teams',
    variables: ({ ids }) => ({ id: globalId('TeamPipeline', ids['team'] ?? '', ids['team_pipeline'] ?? '') }),
  },
  {
    name: 'clusterCreate',
    document: clusterDocuments.create,
    scope: 'write_clusters',
    variables: (world) => ({ organizationId: orgId(world), name: 'x' }),
  },
  {
    name: 'clusterUpdate',
    document: clusterDocuments.update,
    scope: 'write_clusters',
    variables: (world) => ({ organizationId: orgId(world), id: clusterId(world), name: 'x' }),
  },
  {
    name: 'clusterDelete',
    document: clusterDocuments.delete,
    scope: 'write_clusters',
    variables: (world) => ({ organizationId: orgId(world), id: clusterId(world) }),
  },
  {
    name: 'clusterQueueCreate',
    document: queueDocuments.create,
    scope: 'write_clusters',
    variables: (world) => ({ organizationId: orgId(world), clusterId: clusterId(world), key: 'x' }),
  },
  {
    name: 'clusterQueueUpdate',
    document: queueDocuments.update,
    scope: 'write_clusters',
    variables: (world) => ({ organizationId: orgId(world), id: queueId(world), description: 'x' }),
  },
  {
    name: 'clusterQueueDelete',
    document: queueDocuments.delete,
    scope: 'write_clusters',
    variables: (world) => ({ organizationId: orgId(world), id: queueId(world) }),
  },
  {
    name: 'clusterQueuePauseDispatch',
    document: queueDocuments.pause,
    scope: 'write_clusters',
    variables: (world) => ({ id: queueId(world) }),
  },
  {
    name: 'clusterQueueResumeDispatch',
    document: queueDocuments.resume,
    scope: 'write_clusters',
    variables: (world) => ({ id: queueId(world) }),
  },
  {
    name: 'clusterAgentTokenCreate',
    document: tokenDocuments.create,
    scope: 'write_clusters',
    variables: (world) => ({ organizationId: orgId(world), clusterId: clusterId(world), description: 'x' }),
  },
  {
    name: 'clusterAgentTokenUpdate',
    document: tokenDocuments.update,
    scope: 'write_clusters',
    variables: (world) => ({ organizationId: orgId(world), id: tokenId(world), description: 'x' }),
  },
  {
    name: 'clusterAgentTokenRevoke',
    document: tokenDocuments.revoke,
    scope: 'write_clusters',
    variables: (world) => ({ organizationId: orgId(world), id: tokenId(world) }),
  },
  {
    name: 'pipelineTemplateCreate',
    document: templateDocuments.create,
    scope: 'write_pipeline_templates',
    variables: (world) => ({ organizationId: orgId(world), name: 'x', configuration: 'steps: []' }),
  },
  {
    name: 'pipelineTemplateUpdate',
    document: templateDocuments.update,
    scope: 'write_pipeline_templates',
    variables: (world) => ({ organizationId: orgId(world), id: templateId(world), name: 'x' }),
  },
  {
    name: 'pipelineTemplateDelete',
    document: templateDocuments.delete,
    scope: 'write_pipeline_templates',
    variables: (world) => ({ organizationId: orgId(world), id: templateId(world) }),
  },
  {
    name: 'ruleCreate',
    document: ruleDocuments.create,
    scope: 'write_rules',
    variables: ({ ids, ...world }) => ({
      organizationId: orgId({ ids, ...world }),
      ruleType: 'pipeline.trigger_build.pipeline',
      value: { source_pipeline: ids['pipeline'], target_pipeline: ids['pipeline'] },
    }),
  },
  {
    name: 'ruleDelete',
    document: ruleDocuments.delete,
    scope: 'write_rules',
    variables: (world) => ({ organizationId: orgId(world), id: ruleId(world) }),
  },
  {
    name: 'ruleUpdate',
    document: providerDocument('updateOrganizationRule'),
    scope: 'write_rules',
    variables: (world) => ({
      organizationId: orgId(world),
      id: ruleId(world),
      value: { source_pipeline: world.ids['pipeline'], target_pipeline: world.ids['pipeline'] },
    }),
  },
  {
    name: 'teamSuiteCreate',
    document: providerDocument('createTestSuiteTeam'),
    scope: 'write_teams',
    variables: (world) => ({ teamId: teamId(world), suiteId: suiteId(world), accessLevel: 'READ_ONLY' }),
  },
  {
    name: 'teamSuiteUpdate',
    document: providerDocument('updateTestSuiteTeam'),
    scope: 'write_teams',
    variables: (world) => ({ id: teamSuiteId(world), accessLevel: 'READ_ONLY' }),
  },
  {
    name: 'teamSuiteDelete',
    document: providerDocument('deleteTestSuiteTeam'),
    scope: 'write_teams',
    variables: (world) => ({ id: teamSuiteId(world) }),
  },
  {
    name: 'organizationBannerUpsert',
    document: providerDocument('upsertBanner'),
    scope: 'write_organizations',
    variables: (world) => ({ organizationId: orgId(world), message: 'x' }),
  },
  {
    name: 'organizationBannerDelete',
    document: providerDocument('deleteBanner'),
    scope: 'write_organizations',
    variables: (world) => ({ organizationId: orgId(world) }),
  },
  {
    name: 'organizationEnforceTwoFactorAuthenticationForMembersUpdate',
    document: providerDocument('setOrganization2FA'),
    scope: 'read_organizations',
    variables: (world) => ({ organizationID: orgId(world), value: false }),
  },
  {
    name: 'pipelineDeleteWebhook',
    document: providerDocument('deletePipelineWebhook'),
    scope: 'write_pipelines',
    variables: async (world) => ({ pipelineId: await pipelineId(world) }),
  },
  {
    name: 'jobTypeCommandCancel',
    document: bkDocuments.cancelJob,
    scope: 'write_builds',
    variables: (world) => ({ jobId: jobId(world) }),
  },
  {
    name: 'jobTypeCommandRetry',
    document: bkDocuments.retryJob,
    scope: 'write_builds',
    variables: (world) => ({ id: jobId(world) }),
  },
  {
    name: 'jobTypeBlockUnblock',
    document: bkDocuments.unblockJob,
    scope: 'write_builds',
    variables: async (world) => ({ id: await blockId(world), fields: null }),
  },
  {
    name: 'organizationApiIpAllowlistUpdate',
    document: organizationDocuments.setIpAddresses,
    scope: 'write_organization_settings',
    variables: (world) => ({ organizationID: orgId(world), ipAddresses: '' }),
  },
  {
    name: 'organizationInvitationCreate',
    document: bkDocuments.inviteUser,
    scope: 'write_organization_invitations',
    variables: (world) => ({ organization: orgId(world), emails: ['x@example.com'] }),
  },
]

const statusOf = ({ errors }: GraphqlAnswer) => errors[0]?.extensions?.status

describe('every mutation', () => {
  it('is among those that are tested', async () => {
    const { type } = (await graphqlData(
      app,
      ours.admin.token,
      '{ type: __type(name: "Mutation") { fields { name } } }',
    )) as unknown as { type: { fields: Array<{ name: string }> } }
    const fields = type.fields.map(({ name }) => name)
    const documents = changes.map(({ document }) => document).join('\n')
    // Refused to everybody, whatever the ids are.
    const refused = ['agentTokenCreate', 'agentTokenRevoke']
    expect(fields.filter((name) => !documents.includes(`${name}(`))).toEqual(refused)
  })

  it.each(changes)('$name answers 404 to an administrator of another organization', async (change) => {
    const variables = await change.variables(ours)
    const answer = await graphql(app, theirs.admin.token, change.document, variables)
    expect([answer.status, statusOf(answer)]).toEqual([200, 404])
    expect(answer.messages[0]).toMatch(/^No [\w ]+ found$/)
  })

  it.each(changes)('$name needs $scope', async (change) => {
    const token = await aToken(app, ours.admin, { scopes: scopes.filter((scope) => scope !== change.scope) })
    const answer = await graphql(app, token, change.document, await change.variables(ours))
    expect(answer.messages).toEqual([`Your access token doesn't have the ${change.scope} scope`])
    expect(statusOf(answer)).toBe(403)
  })

  it.each(changes)('$name does nothing with a token of another organization', async (change) => {
    const user = ours.admin
    const elsewhere = await anOrganization(app)
    await app.db
      .insertInto('organization_members')
      .values({ organization_id: elsewhere.id, user_id: user.id, role: 'admin' })
      .execute()
    await flushTokenCaches(app.db)
    const token = await aToken(app, user, { organizations: [elsewhere] })
    const answer = await graphql(app, token, change.document, await change.variables(ours))
    expect(statusOf(answer)).toBe(404)
    expect(answer.messages[0]).toMatch(/^No (organization|job) found$/)
  })
})

describe('reading', () => {
  const ids: Array<[string, (world: World) => Promise<string> | string]> = [
    ['Pipeline', pipelineId],
    ['Cluster', clusterId],
    ['ClusterQueue', queueId],
    ['ClusterToken', tokenId],
    ['PipelineSchedule', scheduleId],
    ['PipelineTemplate', templateId],
    ['Rule', ruleId],
    ['Team', teamId],
    ['TeamMember', ({ ids }) => globalId('TeamMember', ids['team'] ?? '', ids['user'] ?? '')],
    ['TeamPipeline', ({ ids }) => globalId('TeamPipeline', ids['team'] ?? '', ids['team_pipeline'] ?? '')],
    ['Suite', suiteId],
    ['TeamSuite', teamSuiteId],
    ['Organization', orgId],
  ]

  it.each(ids)('node finds a %s, and null from another organization', async (type, idIn) => {
    const id = await idIn(ours)
    const own = await graphqlData(app, ours.admin.token, nodeDocument, { id })
    expect(own.node).toMatchObject({ __typename: type })
    const other = await graphqlData(app, theirs.admin.token, nodeDocument, { id })
    expect(other).toEqual({ node: null })
  })

  it('needs the scope of REST for each field', async () => {
    const token = await aToken(app, ours.admin, { scopes: ['read_organizations', 'read_pipelines'] })
    const answer = await graphql(
      app,
      token,
      /* GraphQL */ `
        query Mixed($org: ID!) {
          organization(slug: $org) {
            name
            pipelines(first: 1) {
              edges {
                node {
                  slug
                }
              }
            }
            clusters(first: 1) {
              edges {
                node {
                  name
                }
              }
            }
            teams(first: 1) {
              edges {
                node {
                  name
                }
              }
            }
          }
        }
      `,
      { org: ours.org.slug },
    )
    expect(answer.data.organization).toMatchObject({
      name: ours.org.name,
      pipelines: { edges: [{ node: { slug: ours.ids['pipeline'] } }] },
      clusters: null,
      teams: null,
    })
    expect(answer.errors.map(({ message, path }) => [message, path])).toEqual([
      ["Your access token doesn't have the read_clusters scope", ['organization', 'clusters']],
      ["Your access token doesn't have the read_teams scope", ['organization', 'teams']],
    ])
  })

  it('shows a member only pipelines, jobs and teams that REST shows', async () => {
    const org = await anOrganization(app)
    const admin = await anAdmin(app, org)
    const member = await aMember(app, org)
    const pipeline = await aPipeline(app, org, 'steps: [{command: make}]')
    await app.request('POST', `${org.path}/teams/enable`, { token: admin.token })
    await flushTokenCaches(app.db)
    const hidden = await aTeam(app, org, admin, { privacy: 'secret' })
    await app.request('POST', `${pipeline.path}/builds`, {
      token: admin.token,
      body: { commit: 'HEAD', branch: 'main' },
    })
    const document = /* GraphQL */ `
      query All($org: ID!, $slug: ID!, $pipeline: ID!, $team: ID!) {
        organization(slug: $org) {
          pipelines {
            edges {
              node {
                slug
              }
            }
          }
          jobs {
            edges {
              node {
                __typename
              }
            }
          }
        }
        pipeline(slug: $slug) {
          id
        }
        node(id: $pipeline) {
          id
        }
        team: node(id: $team) {
          id
        }
      }
    `
    const variables = {
      org: org.slug,
      slug: `${org.slug}/${pipeline.slug}`,
      pipeline: globalId('Pipeline', pipeline.id),
      team: globalId('Team', hidden.id),
    }
    const seen = async (user: TestUser) => {
      const { data, messages } = await graphql(app, user.token, document, variables)
      const { organization } = data
      const count = (list: Json | undefined) => Object.keys(list?.edges ?? {}).length
      return [
        count(organization?.pipelines),
        count(organization?.jobs),
        data.pipeline !== null,
        data.node !== null,
        data.team !== null,
        messages,
      ]
    }
    expect(await seen(admin)).toEqual([1, 1, true, true, true, []])
    expect((await app.request('GET', hidden.path, { token: member.token })).status).toBe(404)
    expect(await seen(member)).toEqual([0, 0, false, false, false, []])
  })
})

describe('changes', () => {
  it('are in the audit log, with the caller', async () => {
    const org = await anOrganization(app)
    const admin = await anAdmin(app, org)
    await graphqlData(app, admin.token, clusterDocuments.create, {
      organizationId: globalId('Organization', org.id),
      name: 'Audited',
    })
    const [event] = await auditTrail(app, org, 'CLUSTER_CREATED')
    expect(event).toMatchObject({ actor: { uuid: admin.id }, subject: { name: 'Audited' } })
  })
})
