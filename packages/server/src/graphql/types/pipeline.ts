import { badRequest } from '../../lib/errors.ts'
import { buildFilter, type BuildArgs } from './build.ts'
import { connect, connectionSdl, connectWhole, pageArgs, type PageArgs } from '../connections.ts'
import { selects } from '../selections.ts'
import { uuidOf } from '../ids.ts'
import { bodyOf, givenOf, type Input } from '../mutations.ts'
import { clusterOf, organizationOf, orgOfId, templateOf, thingsOf, userIn } from '../fields.ts'
import { listOf, rowOf, textOf, type Row } from '../rest.ts'
import { toTeamPipeline } from './memberships.ts'
import { Thing, type Asked, type Part } from '../node.ts'
import type { GraphQLResolveInfo } from 'graphql'

export const pipelinePart: Part = {
  sdl: /* GraphQL */ `
    ${connectionSdl('Pipeline')}
    extend type Query {
      "The slug is that of the organization, a slash, and that of the pipeline."
      pipeline(slug: ID, uuid: ID): Pipeline
    }
    extend type Mutation {
      pipelineCreate(input: PipelineCreateInput!): PipelineCreatePayload
      pipelineUpdate(input: PipelineUpdateInput!): PipelineUpdatePayload
      pipelineDelete(input: PipelineDeleteInput!): PipelineDeletePayload
      pipelineArchive(input: PipelineArchiveInput!): PipelineArchivePayload
      pipelineUnarchive(input: PipelineUnarchiveInput!): PipelineUnarchivePayload
      pipelineCreateWebhook(input: PipelineCreateWebhookInput!): PipelineCreateWebhookPayload
    }
    type Pipeline implements Node {
      allowRebuilds: Boolean
      archived: Boolean!
      archivedAt: DateTime
      badgeURL: String!
      branchConfiguration: String
      builds(
        ${pageArgs}
        branch: [String!]
        commit: [String!]
        createdAtFrom: DateTime
        createdAtTo: DateTime
        state: [BuildStates!]
      ): BuildConnection
      cancelIntermediateBuilds: Boolean!
      cancelIntermediateBuildsBranchFilter: String
      cloneMirrorUrl: String
      cluster: Cluster
      color: String
      createdAt: DateTime
      createdBy: User
      defaultBranch: String
      defaultTimeoutInMinutes: Int
      description: String
      emoji: String
      id: ID!
      maximumTimeoutInMinutes: Int
      name: String!
      organization: Organization!
      pipelineTemplate: PipelineTemplate
      repository: Repository
      schedules(${pageArgs}): PipelineScheduleConnection
      skipIntermediateBuilds: Boolean!
      skipIntermediateBuildsBranchFilter: String
      slug: String!
      steps: PipelineSteps
      tags: [PipelineTag!]!
      "The teams that have access, of those that the caller may see."
      teams(${pageArgs}, order: TeamPipelineOrder = RECENTLY_CREATED, search: String): TeamPipelineConnection
      url: String!
      uuid: String!
      visibility: PipelineVisibility!
      "Empty unless the caller may edit the pipeline and the token has write_pipelines."
      webhookURL: String!
    }
    type PipelineSteps {
      yaml: YAML
    }
    type PipelineTag {
      label: String!
    }
    enum PipelineVisibility {
      PRIVATE
      PUBLIC
    }
    enum TeamPipelineOrder {
      NAME
      RECENTLY_CREATED
      RELEVANCE
    }
    input PipelineRepositoryInput {
      url: String!
    }
    input PipelineStepsInput {
      yaml: String!
    }
    input PipelineTagInput {
      label: String!
    }
    input PipelineTeamAssignmentInput {
      accessLevel: PipelineAccessLevels = MANAGE_BUILD_AND_READ
      id: ID!
    }
    input PipelineCreateInput {
      allowRebuilds: Boolean
      branchConfiguration: String
      cancelIntermediateBuilds: Boolean
      cancelIntermediateBuildsBranchFilter: String
      clientMutationId: String
      cloneMirrorUrl: String
      clusterId: ID
      color: String
      defaultBranch: String
      defaultTimeoutInMinutes: Int
      description: String
      emoji: String
      maximumTimeoutInMinutes: Int
      name: String!
      organizationId: ID!
      pipelineTemplateId: ID
      repository: PipelineRepositoryInput!
      skipIntermediateBuilds: Boolean
      skipIntermediateBuildsBranchFilter: String
      steps: PipelineStepsInput
      tags: [PipelineTagInput!]
      teams: [PipelineTeamAssignmentInput!]
      visibility: PipelineVisibility
    }
    type PipelineCreatePayload {
      clientMutationId: String
      organization: Organization!
      pipeline: Pipeline!
    }
    input PipelineUpdateInput {
      allowRebuilds: Boolean
      branchConfiguration: String
      cancelIntermediateBuilds: Boolean
      cancelIntermediateBuildsBranchFilter: String
      clientMutationId: String
      cloneMirrorUrl: String
      clusterId: ID
      color: String
      defaultBranch: String
      defaultTimeoutInMinutes: Int
      description: String
      emoji: String
      id: ID!
      maximumTimeoutInMinutes: Int
      name: String
      pipelineTemplateId: ID
      repository: PipelineRepositoryInput
      skipIntermediateBuilds: Boolean
      skipIntermediateBuildsBranchFilter: String
      steps: PipelineStepsInput
      tags: [PipelineTagInput!]
      visibility: PipelineVisibility
    }
    type PipelineUpdatePayload {
      clientMutationId: String
      pipeline: Pipeline!
    }
    input PipelineDeleteInput {
      clientMutationId: String
      id: ID!
    }
    type PipelineDeletePayload {
      clientMutationId: String
      deletedPipelineID: ID!
      organization: Organization!
    }
    input PipelineArchiveInput {
      clientMutationId: String
      id: ID!
    }
    type PipelineArchivePayload {
      clientMutationId: String
      pipeline: Pipeline!
    }
    input PipelineUnarchiveInput {
      clientMutationId: String
      id: ID!
    }
    type PipelineUnarchivePayload {
      clientMutationId: String
      pipeline: Pipeline!
    }
    input PipelineCreateWebhookInput {
      clientMutationId: String
      id: ID!
    }
    type PipelineCreateWebhookPayload {
      clientMutationId: String
      pipeline: Pipeline!
      pipelineID: ID!
    }
  `,
  resolvers: {
    Query: {
      async pipeline(_: unknown, { slug, uuid }: { slug?: string; uuid?: string }, asked: Asked) {
        const place = slug
          ? placeOfSlug(slug)
          : await asked.places.find('Pipeline', uuidOf('Pipeline', uuid ?? ''))
        if (place === null) return null
        const row = await asked.rest.find(pipeline, place)
        return row && new Thing('Pipeline', place.org, row)
      },
    },
    Mutation: {
      async pipelineCreate(
        _: unknown,
        { input }: Input<PipelineInput & { organizationId: string }>,
        asked: Asked,
      ) {
        const org = await orgOfId(asked, input.organizationId)
        const teams = Object.fromEntries(
          (input.teams ?? []).map(({ id, accessLevel }) => [uuidOf('Team', id), accessLevel.toLowerCase()]),
        )
        const body = { ...pipelineBody(input), ...(input.teams ? { teams } : {}) }
        const row = await asked.rest.write('POST', '/v2/organizations/:org/pipelines', { org }, body)
        return {
          clientMutationId: input.clientMutationId,
          organization: organizationOf(asked.rest, org),
          pipeline: new Thing('Pipeline', org, row),
        }
      },
      async pipelineUpdate(_: unknown, { input }: Input<PipelineInput & { id: string }>, asked: Asked) {
        const place = await asked.places.get('Pipeline', uuidOf('Pipeline', input.id))
        const row = await asked.rest.write('PUT', pipeline, place, pipelineBody(input))
        return { clientMutationId: input.clientMutationId, pipeline: new Thing('Pipeline', place.org, row) }
      },
      async pipelineDelete(_: unknown, { input }: Input<{ id: string }>, asked: Asked) {
        const place = await asked.places.get('Pipeline', uuidOf('Pipeline', input.id))
        await asked.rest.write('DELETE', pipeline, place)
        return {
          clientMutationId: input.clientMutationId,
          deletedPipelineID: input.id,
          organization: organizationOf(asked.rest, place.org),
        }
      },
      pipelineArchive: actOn('archive'),
      pipelineUnarchive: actOn('unarchive'),
      pipelineCreateWebhook: actOn('webhook'),
    },
    Pipeline: {
      archived: async (source: Thing) => (await source.get('archived_at')) !== null,
      badgeURL: (source: Thing) => source.get('badge_url'),
      async builds(source: Thing, args: PageArgs & BuildArgs, { rest }: Asked, info: GraphQLResolveInfo) {
        const params = { org: source.org, pipeline: await source.text('slug') }
        const query = buildFilter(args, selects(info, 'edges', 'node', 'jobs'))
        const list = { url: '/v2/organizations/:org/pipelines/:pipeline/builds', params, query }
        return connect(rest, list, args, thingsOf('Build', source.org))
      },
      cancelIntermediateBuilds: (source: Thing) => source.get('cancel_running_branch_builds'),
      cancelIntermediateBuildsBranchFilter: (source: Thing) =>
        source.get('cancel_running_branch_builds_filter'),
      async cluster(source: Thing, _: object, { rest }: Asked) {
        const cluster = await source.text('cluster_id')
        return cluster === '' ? null : clusterOf(rest, source.org, cluster)
      },
      createdBy: userIn('created_by'),
      defaultTimeoutInMinutes: (source: Thing) => source.get('default_command_step_timeout'),
      maximumTimeoutInMinutes: (source: Thing) => source.get('maximum_command_step_timeout'),
      organization: ({ org }: Thing, _: object, { rest }: Asked) => organizationOf(rest, org),
      async pipelineTemplate(source: Thing, _: object, { rest }: Asked) {
        const template = await source.text('pipeline_template_uuid')
        return template === '' ? null : templateOf(rest, source.org, template)
      },
      repository: async (source: Thing) => ({
        url: await source.get('repository'),
        provider: rowOf(await source.get('provider')),
      }),
      async schedules(source: Thing, args: PageArgs, { rest }: Asked) {
        const params = { org: source.org, pipeline: await source.text('slug') }
        const list = { url: '/v2/organizations/:org/pipelines/:pipeline/schedules', params }
        return connect(rest, list, args, thingsOf('PipelineSchedule', source.org))
      },
      skipIntermediateBuilds: (source: Thing) => source.get('skip_queued_branch_builds'),
      skipIntermediateBuildsBranchFilter: (source: Thing) => source.get('skip_queued_branch_builds_filter'),
      steps: async (source: Thing) => ({ yaml: await source.get('configuration') }),
      tags: async (source: Thing) => listOf(await source.get('tags')).map((label) => ({ label })),
      async teams(source: Thing, args: PageArgs & TeamArgs, { rest }: Asked) {
        const params = { org: source.org, pipeline: await source.text('slug') }
        const list = { url: '/v2/organizations/:org/pipelines/:pipeline/teams', params }
        const id = await source.text('id')
        return connectWhole(rest, list, args, chosenTeams(args), (row) => {
          const team = textOf(rowOf(row['team'])['id'])
          const known = { ...row, pipeline_id: id, pipeline_slug: params.pipeline }
          return toTeamPipeline(source.org, team, known)
        })
      },
      url: (source: Thing) => source.get('web_url'),
      webhookURL: async (source: Thing) => rowOf(await source.get('provider'))['webhook_url'],
    },
  },
}

const pipeline = '/v2/organizations/:org/pipelines/:pipeline'

function placeOfSlug(slug: string): { org: string; pipeline: string } | null {
  const [org, name, ...more] = slug.split('/')
  if (!org || !name || more.length > 0) {
    throw badRequest('`slug` must be that of the organization and that of the pipeline, such as "acme/app".')
  }
  return { org, pipeline: name }
}

function actOn(action: 'archive' | 'unarchive' | 'webhook') {
  return async (_: unknown, { input }: Input<{ id: string }>, asked: Asked) => {
    const place = await asked.places.get('Pipeline', uuidOf('Pipeline', input.id))
    const row = await asked.rest.write('POST', `${pipeline}/${action}`, place)
    const { clientMutationId, id } = input
    return { clientMutationId, pipeline: new Thing('Pipeline', place.org, row), pipelineID: id }
  }
}

type PipelineInput = {
  clusterId?: string | null
  pipelineTemplateId?: string | null
  repository?: { url: string } | null
  steps?: { yaml: string } | null
  tags?: Array<{ label: string }> | null
  teams?: Array<{ id: string; accessLevel: string }> | null
  visibility?: string | null
}

/** REST refuses null here, so null leaves these as they are. */
const neverNull = {
  allowRebuilds: 'allow_rebuilds',
  cancelIntermediateBuilds: 'cancel_running_branch_builds',
  name: 'name',
  skipIntermediateBuilds: 'skip_queued_branch_builds',
}

const sometimesNull = {
  branchConfiguration: 'branch_configuration',
  cancelIntermediateBuildsBranchFilter: 'cancel_running_branch_builds_filter',
  cloneMirrorUrl: 'clone_mirror_url',
  color: 'color',
  defaultBranch: 'default_branch',
  defaultTimeoutInMinutes: 'default_command_step_timeout',
  description: 'description',
  emoji: 'emoji',
  maximumTimeoutInMinutes: 'maximum_command_step_timeout',
  skipIntermediateBuildsBranchFilter: 'skip_queued_branch_builds_filter',
}

function pipelineBody(input: PipelineInput): Record<string, unknown> {
  const { clusterId, pipelineTemplateId, repository, steps, tags, visibility } = input
  const idOf = (type: string, id: string | null) => (id ? uuidOf(type, id) : null)
  return {
    ...givenOf(input, neverNull),
    ...bodyOf(input, sometimesNull),
    ...(clusterId === undefined ? {} : { cluster_id: idOf('Cluster', clusterId) }),
    ...(pipelineTemplateId === undefined
      ? {}
      : { pipeline_template_uuid: idOf('PipelineTemplate', pipelineTemplateId) }),
    ...(repository ? { repository: repository.url } : {}),
    ...(steps ? { configuration: steps.yaml } : {}),
    ...(tags ? { tags: tags.map(({ label }) => label) } : {}),
    ...(visibility ? { visibility: visibility.toLowerCase() } : {}),
  }
}

type TeamArgs = { order: string; search?: string | null }

/** The list of REST is in the order of the assignments. */
const chosenTeams =
  ({ order, search }: TeamArgs) =>
  (rows: Row[]): Row[] => {
    const nameOf = (row: Row) => textOf(rowOf(row['team'])['name']).toLowerCase()
    const slugOf = (row: Row) => textOf(rowOf(row['team'])['slug'])
    const wanted = search?.toLowerCase() ?? ''
    const found = rows.filter((row) => nameOf(row).includes(wanted) || slugOf(row).includes(wanted))
    if (order === 'RECENTLY_CREATED') return found.toReversed()
    return found.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  }
