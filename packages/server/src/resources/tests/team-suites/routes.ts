import { Type } from 'typebox'
import { checkPermission } from '../../../auth/permissions.ts'
import { created, noContent, ok } from '../../../http/answer.ts'
import { pageAnswer, readPage } from '../../../http/paging.ts'
import { route } from '../../../http/route.ts'
import { forbidden } from '../../../lib/errors.ts'
import * as teams from '../../people/teams/queries.ts'
import * as suites from '../suites/queries.ts'
import { createTeamSuite } from './create.ts'
import { deleteTeamSuite } from './delete.ts'
import { presentSuiteTeam, presentTeamSuite } from './present.ts'
import * as teamSuites from './queries.ts'
import { CreateTeamSuite, SuiteTeam, TeamSuite, UpdateTeamSuite } from './schema.ts'
import { updateTeamSuite } from './update.ts'

const listTeamSuitesRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/teams/:team/suites',
  summary: 'List the test suites of a team, oldest first',
  scope: 'read_teams',
  permission: 'view_teams',
  paging: 'pages',
  answers: { 200: Type.Array(TeamSuite) },
  async handler({ ctx, org, caller, params, url }) {
    await teams.getVisible(ctx.db, org, caller, params.team)
    const page = readPage(url)
    const rows = await teamSuites.listInTeam(ctx.db, org, caller, params.team, page)
    return pageAnswer(page, rows, (row) => presentTeamSuite(ctx.config.url, org.slug, row))
  },
})

const listSuiteTeamsRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/suites/:suite/teams',
  summary: 'List the teams that have access to a test suite, oldest first',
  scope: 'read_teams',
  permission: 'member',
  paging: 'pages',
  answers: { 200: Type.Array(SuiteTeam) },
  errors: { 403: 'The organization shows teams to administrators only.' },
  async handler({ ctx, org, caller, params, url }) {
    const suite = await suites.getBySlug(ctx.db, org, caller, params.suite)
    if ((await checkPermission(ctx.db, 'view_teams', org, caller, {})) === 'no') throw forbidden()
    const page = readPage(url)
    const rows = await teamSuites.listOfSuite(ctx.db, org, caller, suite.id, page)
    return pageAnswer(page, rows, presentSuiteTeam)
  },
})

const getTeamSuiteRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/teams/:team/suites/:team_suite',
  summary: 'Get a test suite of a team',
  scope: 'read_teams',
  permission: 'view_teams',
  answers: { 200: TeamSuite },
  async handler({ ctx, org, caller, params }) {
    await teams.getVisible(ctx.db, org, caller, params.team)
    const row = await teamSuites.getInTeam(ctx.db, org, caller, params.team, params.team_suite)
    return ok(presentTeamSuite(ctx.config.url, org.slug, row))
  },
})

const createTeamSuiteRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/teams/:team/suites',
  summary: 'Give a team access to a test suite',
  scope: 'write_teams',
  permission: 'manage_team',
  body: CreateTeamSuite,
  answers: { 201: TeamSuite },
  errors: {
    403: 'The caller does not manage the suite.',
    422: 'The body is not valid, or the team has the suite already.',
  },
  async handler({ ctx, org, caller, params, body }) {
    const row = await createTeamSuite({ ctx, org, caller }, params.team, body)
    return created(presentTeamSuite(ctx.config.url, org.slug, row))
  },
})

const updateTeamSuiteRoute = route({
  method: ['PUT', 'PATCH'],
  url: '/v2/organizations/:org/teams/:team/suites/:team_suite',
  summary: 'Change what a team may do with a test suite',
  scope: 'write_teams',
  permission: 'manage_team',
  body: UpdateTeamSuite,
  answers: { 200: TeamSuite },
  errors: { 403: 'The caller does not manage the suite.' },
  async handler({ ctx, org, caller, params, body }) {
    const row = await updateTeamSuite({ ctx, org, caller }, params.team, params.team_suite, body.access_level)
    return ok(presentTeamSuite(ctx.config.url, org.slug, row))
  },
})

const deleteTeamSuiteRoute = route({
  method: 'DELETE',
  url: '/v2/organizations/:org/teams/:team/suites/:team_suite',
  summary: "Take a team's access to a test suite away",
  scope: 'write_teams',
  permission: 'manage_team',
  answers: { 204: null },
  async handler({ ctx, org, caller, params }) {
    await deleteTeamSuite({ ctx, org, caller }, params.team, params.team_suite)
    return noContent()
  },
})

export const teamSuiteRoutes = [
  listTeamSuitesRoute,
  listSuiteTeamsRoute,
  getTeamSuiteRoute,
  createTeamSuiteRoute,
  updateTeamSuiteRoute,
  deleteTeamSuiteRoute,
]
