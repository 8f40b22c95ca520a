import { Type } from 'typebox'
import { created, noContent, ok } from '../../../http/answer.ts'
import { pageAnswer, readPage } from '../../../http/paging.ts'
import { uuid } from '../../../http/params.ts'
import { route } from '../../../http/route.ts'
import * as teams from '../teams/queries.ts'
import { createTeamMember } from './create.ts'
import { deleteTeamMember } from './delete.ts'
import { presentTeamMember } from './present.ts'
import * as teamMembers from './queries.ts'
import { CreateTeamMember, TeamMember, UpdateTeamMember } from './schema.ts'
import { updateTeamMember } from './update.ts'

const listTeamMembersRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/teams/:team/members',
  summary: 'List the members of a team, oldest first',
  scope: 'read_teams',
  permission: 'view_teams',
  paging: 'pages',
  answers: { 200: Type.Array(TeamMember) },
  async handler({ ctx, org, caller, params, url }) {
    await teams.getVisible(ctx.db, org, caller, params.team)
    const page = readPage(url)
    const rows = await teamMembers.listInTeam(ctx.db, org.id, params.team, page)
    return pageAnswer(page, rows, presentTeamMember)
  },
})

const getTeamMemberRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/teams/:team/members/:user',
  summary: 'Get a member of a team',
  scope: 'read_teams',
  permission: 'view_teams',
  params: { user: uuid('team member') },
  answers: { 200: TeamMember },
  async handler({ ctx, org, caller, params }) {
    await teams.getVisible(ctx.db, org, caller, params.team)
    const member = await teamMembers.getInTeam(ctx.db, org.id, params.team, params.user)
    return ok(presentTeamMember(member))
  },
})

const createTeamMemberRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/teams/:team/members',
  summary: 'Add a member of the organization to a team',
  scope: 'write_teams',
  permission: 'manage_team',
  body: CreateTeamMember,
  answers: { 201: TeamMember },
  errors: { 422: 'The user is no member of the organization, or is in the team already.' },
  async handler({ ctx, org, caller, params, body }) {
    return created(presentTeamMember(await createTeamMember({ ctx, org, caller }, params.team, body)))
  },
})

const updateTeamMemberRoute = route({
  method: ['PUT', 'PATCH'],
  url: '/v2/organizations/:org/teams/:team/members/:user',
  summary: 'Change the role of a member of a team',
  scope: 'write_teams',
  permission: 'manage_team',
  params: { user: uuid('team member') },
  body: UpdateTeamMember,
  answers: { 200: TeamMember },
  errors: { 422: 'The role is missing or unknown.' },
  async handler({ ctx, org, caller, params, body }) {
    const member = await updateTeamMember({ ctx, org, caller }, params.team, params.user, body)
    return ok(presentTeamMember(member))
  },
})

const deleteTeamMemberRoute = route({
  method: 'DELETE',
  url: '/v2/organizations/:org/teams/:team/members/:user',
  summary: 'Remove a member from a team',
  scope: 'write_teams',
  permission: 'manage_team',
  params: { user: uuid('team member') },
  answers: { 204: null },
  async handler({ ctx, org, caller, params }) {
    await deleteTeamMember({ ctx, org, caller }, params.team, params.user)
    return noContent()
  },
})

export const teamMemberRoutes = [
  listTeamMembersRoute,
  getTeamMemberRoute,
  createTeamMemberRoute,
  updateTeamMemberRoute,
  deleteTeamMemberRoute,
]
