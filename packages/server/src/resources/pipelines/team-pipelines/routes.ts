import { Type } from 'typebox'
import { checkPermission } from '../../../auth/permissions.ts'
import { created, noContent, ok } from '../../../http/answer.ts'
import { pageAnswer, readPage } from '../../../http/paging.ts'
import { route } from '../../../http/route.ts'
import { forbidden } from '../../../lib/errors.ts'
import * as teams from '../../people/teams/queries.ts'
import { createTeamPipeline } from './create.ts'
import { deleteTeamPipeline } from './delete.ts'
import { presentPipelineTeam, presentTeamPipeline } from './present.ts'
import * as teamPipelines from './queries.ts'
import { CreateTeamPipeline, PipelineTeam, TeamPipeline, UpdateTeamPipeline } from './schema.ts'
import { updateTeamPipeline } from './update.ts'

const listTeamPipelinesRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/teams/:team/pipelines',
  summary: 'List the pipelines of a team, oldest first',
  scope: 'read_teams',
  permission: 'view_teams',
  paging: 'pages',
  answers: { 200: Type.Array(TeamPipeline) },
  async handler({ ctx, org, caller, params, url }) {
    await teams.getVisible(ctx.db, org, caller, params.team)
    const page = readPage(url)
    const rows = await teamPipelines.listInTeam(ctx.db, org, caller, params.team, page)
    return pageAnswer(page, rows, (row) => presentTeamPipeline(ctx.config.url, org.slug, row))
  },
})

const listPipelineTeamsRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/pipelines/:pipeline/teams',
  summary: 'List the teams that have access to a pipeline, oldest first',
  scope: 'read_teams',
  permission: 'read_pipeline',
  paging: 'pages',
  answers: { 200: Type.Array(PipelineTeam) },
  errors: { 403: 'The organization shows teams to administrators only.' },
  async handler({ ctx, org, caller, pipelineId, url }) {
    if ((await checkPermission(ctx.db, 'view_teams', org, caller, {})) === 'no') throw forbidden()
    const page = readPage(url)
    const rows = await teamPipelines.listOfPipeline(ctx.db, org, caller, pipelineId, page)
    return pageAnswer(page, rows, presentPipelineTeam)
  },
})

const getTeamPipelineRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/teams/:team/pipelines/:team_pipeline',
  summary: 'Get a pipeline of a team',
  scope: 'read_teams',
  permission: 'view_teams',
  answers: { 200: TeamPipeline },
  async handler({ ctx, org, caller, params }) {
    await teams.getVisible(ctx.db, org, caller, params.team)
    const row = await teamPipelines.getInTeam(ctx.db, org, caller, params.team, params.team_pipeline)
    return ok(presentTeamPipeline(ctx.config.url, org.slug, row))
  },
})

const createTeamPipelineRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/teams/:team/pipelines',
  summary: 'Give a team access to a pipeline',
  scope: 'write_teams',
  permission: 'manage_team',
  body: CreateTeamPipeline,
  answers: { 201: TeamPipeline },
  errors: {
    403: 'The caller may not manage the team, or may not manage the pipeline.',
    422: 'No such pipeline, or the team has it already.',
  },
  async handler({ ctx, org, caller, params, body }) {
    const row = await createTeamPipeline({ ctx, org, caller }, params.team, body)
    return created(presentTeamPipeline(ctx.config.url, org.slug, row))
  },
})

const updateTeamPipelineRoute = route({
  method: ['PUT', 'PATCH'],
  url: '/v2/organizations/:org/teams/:team/pipelines/:team_pipeline',
  summary: 'Change what a team may do with a pipeline',
  scope: 'write_teams',
  permission: 'manage_team',
  body: UpdateTeamPipeline,
  answers: { 200: TeamPipeline },
  errors: { 403: 'The caller may not manage the team, or may not manage the pipeline.' },
  async handler({ ctx, org, caller, params, body }) {
    const { team, team_pipeline: pipeline } = params
    const row = await updateTeamPipeline({ ctx, org, caller }, team, pipeline, body.access_level)
    return ok(presentTeamPipeline(ctx.config.url, org.slug, row))
  },
})

const deleteTeamPipelineRoute = route({
  method: 'DELETE',
  url: '/v2/organizations/:org/teams/:team/pipelines/:team_pipeline',
  summary: "Take a team's access to a pipeline away",
  scope: 'write_teams',
  permission: 'manage_team',
  answers: { 204: null },
  async handler({ ctx, org, caller, params }) {
    await deleteTeamPipeline({ ctx, org, caller }, params.team, params.team_pipeline)
    return noContent()
  },
})

export const teamPipelineRoutes = [
  listTeamPipelinesRoute,
  listPipelineTeamsRoute,
  getTeamPipelineRoute,
  createTeamPipelineRoute,
  updateTeamPipelineRoute,
  deleteTeamPipelineRoute,
]
