import { urlOf } from '../addresses.ts'
import { connectWhole, pageArgs, type PageArgs } from '../connections.ts'
import { embedded, from, isSet, list, reference, self } from '../fields.ts'
import { uuidOf } from '../ids.ts'
import { addressed, byId, givenId, idOf, ifGiven, optional, written } from '../mutations.ts'
import { Node } from '../node.ts'
import { listOf, rowOf, textOf, type Row } from '../rest.ts'
import { selects } from '../selections.ts'
import type { BodyInputs, Part } from '../table.ts'
import { buildFilter, type BuildArgs } from './build.ts'
import { bySlugOrUuid } from './find.ts'
import { webhookOf } from './repository.ts'

const change = { at: byId('Pipeline'), payload: { pipeline: written('Pipeline!') } }

const settings: BodyInputs = {
  allowRebuilds: ifGiven('Boolean'),
  branchConfiguration: 'String',
  cancelIntermediateBuilds: ifGiven('Boolean', { column: 'cancel_running_branch_builds' }),
  cancelIntermediateBuildsBranchFilter: { type: 'String', column: 'cancel_running_branch_builds_filter' },
  cloneMirrorUrl: 'String',
  clusterId: idOf('Cluster', 'cluster_id'),
  color: 'String',
  defaultBranch: 'String',
  defaultTimeoutInMinutes: { type: 'Int', column: 'default_command_step_timeout' },
  description: 'String',
  emoji: 'String',
  maximumTimeoutInMinutes: { type: 'Int', column: 'maximum_command_step_timeout' },
  name: 'String!',
  pipelineTemplateId: idOf('PipelineTemplate', 'pipeline_template_uuid'),
  repository: { type: 'PipelineRepositoryInput!', toBody: (repository) => rowOf(repository)['url'] },
  skipIntermediateBuilds: ifGiven('Boolean', { column: 'skip_queued_branch_builds' }),
  skipIntermediateBuildsBranchFilter: { type: 'String', column: 'skip_queued_branch_builds_filter' },
  steps: ifGiven('PipelineStepsInput', {
    column: 'configuration',
    toBody: (steps) => rowOf(steps)['yaml'],
  }),
  tags: ifGiven('[PipelineTagInput!]', {
    toBody: (tags) => listOf(tags).map((tag) => rowOf(tag)['label']),
  }),
  visibility: ifGiven('PipelineVisibility'),
}

export const pipelinePart: Part = {
  queries: {
    pipeline: {
      ...bySlugOrUuid(
        'Pipeline',
        '`slug` must be that of the organization and that of the pipeline, such as "acme/app".',
      ),
      description: 'The slug is that of the organization, a slash, and that of the pipeline.',
    },
  },
  nodes: {
    Pipeline: {
      allowRebuilds: 'Boolean',
      archived: isSet('archived_at'),
      archivedAt: 'DateTime',
      badgeURL: 'String!',
      branchConfiguration: 'String',
      builds: list('Build', 'builds', {
        args: {
          branch: '[String!]',
          commit: '[String!]',
          createdAtFrom: 'DateTime',
          createdAtTo: 'DateTime',
          state: '[BuildStates!]',
        },
        query: (args: BuildArgs, info) => buildFilter(args, selects(info, 'edges', 'node', 'jobs')),
      }),
      cancelIntermediateBuilds: from('cancel_running_branch_builds', 'Boolean!'),
      cancelIntermediateBuildsBranchFilter: from('cancel_running_branch_builds_filter', 'String'),
      cloneMirrorUrl: 'String',
      cluster: reference('Cluster', { cluster: 'cluster_id' }),
      color: 'String',
      createdAt: 'DateTime',
      createdBy: embedded('User', 'created_by'),
      defaultBranch: 'String',
      defaultTimeoutInMinutes: from('default_command_step_timeout', 'Int'),
      description: 'String',
      emoji: 'String',
      maximumTimeoutInMinutes: from('maximum_command_step_timeout', 'Int'),
      name: 'String!',
      organization: reference('Organization!'),
      pipelineTemplate: reference('PipelineTemplate', { template: 'pipeline_template_uuid' }),
      repository: self('Repository'),
      schedules: list('PipelineSchedule', 'schedules'),
      skipIntermediateBuilds: from('skip_queued_branch_builds', 'Boolean!'),
      skipIntermediateBuildsBranchFilter: from('skip_queued_branch_builds_filter', 'String'),
      slug: 'String!',
      steps: self('PipelineSteps'),
      tags: {
        type: '[PipelineTag!]!',
        resolve: async (source) => listOf(await source.get('tags')).map((label) => ({ label })),
      },
      teams: {
        type: 'TeamPipelineConnection',
        description: 'The teams that have access, of those that the caller may see.',
        args: {
          ...pageArgs,
          order: { type: 'TeamPipelineOrder', defaultValue: 'recently_created' },
          search: 'String',
        },
        async resolve(source, args: PageArgs & TeamArgs, { rest }) {
          const address = { ...source.address, pipeline: await source.text('slug') }
          const shared = { pipeline_id: await source.get('id'), pipeline_url: await source.get('url') }
          return connectWhole(
            rest,
            { url: `${urlOf('Pipeline')}/teams`, params: address },
            args,
            (rows) => chosenTeams(rows, args),
            (row) =>
              new Node(
                'TeamPipeline',
                { ...address, team: textOf(teamIn(row)['id']) },
                { ...row, ...shared },
              ),
          )
        },
      },
      url: from('web_url', 'String!'),
      uuid: 'String!',
      visibility: 'PipelineVisibility!',
      webhookURL: {
        type: 'String!',
        description: 'Empty unless the caller may edit the pipeline and the token has write_pipelines.',
        resolve: async (source) => rowOf(await source.get('provider'))['webhook_url'],
      },
    },
  },
  objects: {
    PipelineSteps: { yaml: from('configuration', 'YAML') },
    PipelineTag: { label: 'String!' },
  },
  enums: { PipelineVisibility: 'PRIVATE PUBLIC', TeamPipelineOrder: 'NAME RECENTLY_CREATED RELEVANCE' },
  inputs: {
    PipelineRepositoryInput: { url: 'String!' },
    PipelineStepsInput: { yaml: 'String!' },
    PipelineTagInput: { label: 'String!' },
    PipelineTeamAssignmentInput: {
      accessLevel: { type: 'PipelineAccessLevels', defaultValue: 'manage_build_and_read' },
      id: 'ID!',
    },
  },
  mutations: {
    pipelineCreate: {
      route: 'POST /pipelines',
      at: { organizationId: 'Organization' },
      input: {
        ...settings,
        teams: ifGiven('[PipelineTeamAssignmentInput!]', {
          toBody: (teams) =>
            Object.fromEntries(
              listOf(teams)
                .map(rowOf)
                .map(({ id, accessLevel }) => [uuidOf('Team', textOf(id)), accessLevel]),
            ),
        }),
      },
      payload: { organization: addressed('Organization!'), pipeline: written('Pipeline!') },
    },
    pipelineUpdate: { ...change, route: 'PUT', input: optional(settings) },
    pipelineDelete: {
      route: 'DELETE',
      at: byId('Pipeline'),
      payload: { deletedPipelineID: givenId, organization: addressed('Organization!') },
    },
    pipelineArchive: { ...change, route: 'POST /archive' },
    pipelineUnarchive: { ...change, route: 'POST /unarchive' },
    pipelineCreateWebhook: {
      ...change,
      route: 'POST /webhook',
      payload: {
        ...change.payload,
        pipelineID: givenId,
        webhook: {
          type: 'RepositoryProviderWebhook',
          resolve: ({ address, row }) => webhookOf(address, rowOf(row['provider'])),
        },
      },
    },
    pipelineDeleteWebhook: {
      route: 'DELETE /webhook',
      at: byId('Pipeline'),
      input: { repository: 'String' },
      payload: {
        deletedWebhookExternalId: { type: 'String', description: 'Always null.', resolve: () => null },
        pipeline: addressed('Pipeline!'),
      },
    },
  },
}

type TeamArgs = { order: string; search?: string | null }

const teamIn = (row: Row): Row => rowOf(row['team'])

/** The list of REST is in the order of the assignments. */
function chosenTeams(rows: Row[], { order, search }: TeamArgs): Row[] {
  const nameOf = (row: Row) => textOf(teamIn(row)['name']).toLowerCase()
  const slugOf = (row: Row) => textOf(teamIn(row)['slug'])
  const wanted = search?.toLowerCase() ?? ''
  const found = rows.filter((row) => nameOf(row).includes(wanted) || slugOf(row).includes(wanted))
  if (order === 'recently_created') return found.toReversed()
  return found.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
}
