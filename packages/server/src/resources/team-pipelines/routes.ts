import { Type } from 'typebox'
import type { Caller, Organization } from '../../auth/caller.ts'
import { pipelineAccess } from '../../auth/pipeline-access.ts'
import type { Context } from '../../context.ts'
import type { Trx } from '../../db/pool.ts'
import { inTransaction } from '../../db/transaction.ts'
import { created, noContent, ok } from '../../http/answer.ts'
import { pageAnswer, readPage } from '../../http/paging.ts'
import { uuid } from '../../http/params.ts'
import { route } from '../../http/route.ts'
import { forbidden, notFound, validationFailed } from '../../lib/errors.ts'
import * as pipelines from '../pipelines/queries.ts'
import * as teams from '../teams/queries.ts'
import { assignTeam, changeLevel, unassignTeam } from './assign.ts'
import { presentTeamPipeline } from './present.ts'
import * as teamPipelines from './queries.ts'
import { CreateTeamPipeline, TeamPipeline, UpdateTeamPipeline } from './schema.ts'

const listTeamPipelinesRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/teams/:team/pipelines',
  summary: 'List the pipelines of a team, oldest first',
  scope: 'read_teams',
  permission: 'view_teams',
  params: { team: uuid('team') },
  paging: 'pages',
  answers: { 200: Type.Array(TeamPipeline) },
  async handler({ ctx, org, caller, params, url }) {
    await requireVisible(ctx, org, caller, params.team)
    const page = readPage(url)
    const rows = await teamPipelines.listInTeam(ctx.db, org, caller, params.team, page)
    return pageAnswer(page, rows, (row) => presentTeamPipeline(ctx.config.url, org.slug, row))
  },
})

const getTeamPipelineRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/teams/:team/pipelines/:team_pipeline',
  summary: 'Get a pipeline of a team',
  scope: 'read_teams',
  permission: 'view_teams',
  params: { team: uuid('team'), team_pipeline: uuid('team pipeline') },
  answers: { 200: TeamPipeline },
  async handler({ ctx, org, caller, params }) {
    await requireVisible(ctx, org, caller, params.team)
    const row = await teamPipelines.findInTeam(ctx.db, org, caller, params.team, params.team_pipeline)
    if (row === undefined) throw notFound('No team pipeline found')
    return ok(presentTeamPipeline(ctx.config.url, org.slug, row))
  },
})

const createTeamPipelineRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/teams/:team/pipelines',
  summary: 'Give a team access to a pipeline',
  scope: 'write_teams',
  permission: 'manage_team',
  params: { team: uuid('team') },
  body: CreateTeamPipeline,
  answers: { 201: TeamPipeline },
  errors: {
    403: 'The caller may not manage the team, or may not manage the pipeline.',
    422: 'No such pipeline, or the team has it already.',
  },
  async handler({ ctx, org, caller, params, body }) {
    return inTransaction(ctx.db, async (trx) => {
      const [team] = await teamPipelines.holdTeams(trx, org, caller, [params.team])
      if (team === undefined) throw notFound('No team found')
      const pipeline = await holdManaged(trx, org, caller, body.pipeline_id)
      if (pipeline === null) throw validationFailed('pipeline_id is not a pipeline of this organization')
      const isNew = await assignTeam(trx, org, caller, { teamId: team.id, pipeline }, body.access_level)
      if (!isNew) throw validationFailed(`the team has the pipeline "${pipeline.name}" already`)
      return created(await presentOne(trx, ctx, org, caller, team.id, pipeline.id))
    })
  },
})

const updateTeamPipelineRoute = route({
  method: ['PUT', 'PATCH'],
  url: '/v2/organizations/:org/teams/:team/pipelines/:team_pipeline',
  summary: 'Change what a team may do with a pipeline',
  scope: 'write_teams',
  permission: 'manage_team',
  params: { team: uuid('team'), team_pipeline: uuid('team pipeline') },
  body: UpdateTeamPipeline,
  answers: { 200: TeamPipeline },
  errors: { 403: 'The caller may not manage the team, or may not manage the pipeline.' },
  async handler({ ctx, org, caller, params, body }) {
    return inTransaction(ctx.db, async (trx) => {
      const [teamId, id] = [params.team, params.team_pipeline]
      const row = await teamPipelines.findInTeam(trx, org, caller, teamId, id)
      const pipeline = row && (await holdManaged(trx, org, caller, id))
      if (!pipeline) throw notFound('No team pipeline found')
      await changeLevel(trx, org, caller, { teamId, pipeline }, body.access_level)
      return ok(await presentOne(trx, ctx, org, caller, teamId, id))
    })
  },
})

const deleteTeamPipelineRoute = route({
  method: 'DELETE',
  url: '/v2/organizations/:org/teams/:team/pipelines/:team_pipeline',
  summary: "Take a team's access to a pipeline away",
  scope: 'write_teams',
  permission: 'manage_team',
  params: { team: uuid('team'), team_pipeline: uuid('team pipeline') },
  answers: { 204: null },
  async handler({ ctx, org, caller, params }) {
    return inTransaction(ctx.db, async (trx) => {
      const row = await teamPipelines.findInTeam(trx, org, caller, params.team, params.team_pipeline)
      const assignment = row && {
        teamId: row.team_id,
        pipeline: { id: row.pipeline_id, name: row.pipeline_name },
      }
      if (assignment === undefined || !(await unassignTeam(trx, org, caller, assignment))) {
        throw notFound('No team pipeline found')
      }
      return noContent()
    })
  },
})

async function requireVisible(
  ctx: Context,
  org: Organization,
  caller: Caller,
  teamId: string,
): Promise<void> {
  if ((await teams.findVisible(ctx.db, org, caller, teamId)) === undefined) throw notFound('No team found')
}

/** Whoever runs a team may give it only what is theirs to give. */
async function holdManaged(
  trx: Trx,
  org: Organization,
  caller: Caller,
  pipelineId: string,
): Promise<{ id: string; name: string } | null> {
  const pipeline = await pipelines.holdInOrg(trx, org.id, pipelineId)
  const access = await pipelineAccess(trx, org, caller, pipelineId)
  if (pipeline === undefined || access === 'none') return null
  if (access !== 'manage') throw forbidden()
  return pipeline
}

async function presentOne(
  trx: Trx,
  ctx: Context,
  org: Organization,
  caller: Caller,
  teamId: string,
  pipelineId: string,
): Promise<unknown> {
  const row = await teamPipelines.findInTeam(trx, org, caller, teamId, pipelineId)
  if (row === undefined) throw notFound('No team pipeline found')
  return presentTeamPipeline(ctx.config.url, org.slug, row)
}

export const teamPipelineRoutes = [
  listTeamPipelinesRoute,
  getTeamPipelineRoute,
  createTeamPipelineRoute,
  updateTeamPipelineRoute,
  deleteTeamPipelineRoute,
]
