import { Type } from 'typebox'
import { listManagedTeams } from '../../../auth/permissions.ts'
import { created, noContent, ok } from '../../../http/answer.ts'
import { pageAnswer, readPage } from '../../../http/paging.ts'
import { route } from '../../../http/route.ts'
import { refused } from '../../../lib/errors.ts'
import { isUuid } from '../../../lib/ids.ts'
import { IncludeViewer } from '../../schema.ts'
import { createTeam } from './create.ts'
import { deleteTeam } from './delete.ts'
import { enableTeams } from './enable.ts'
import { presentTeam } from './present.ts'
import * as teams from './queries.ts'
import { CreateTeam, Team, UpdateTeam } from './schema.ts'
import { updateTeam } from './update.ts'

const listTeamsRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/teams',
  summary: 'List teams, oldest first',
  scope: 'read_teams',
  permission: 'view_teams',
  query: {
    user_id: Type.Optional(Type.String({ description: 'Only teams that this user is in.' })),
    ...IncludeViewer,
  },
  paging: 'pages',
  answers: { 200: Type.Array(Team) },
  errors: { 422: '`user_id` is not a UUID.' },
  async handler({ ctx, org, caller, query, url }) {
    const userId = query.user_id
    if (userId !== undefined && !isUuid(userId)) {
      throw refused(`user_id must be the UUID of a user, which "${userId}" is not`)
    }
    const page = readPage(url)
    const rows = await teams.listVisible(ctx.db, org, caller, { ...page, userId })
    if (!query.include_viewer) return pageAnswer(page, rows, (row) => presentTeam(ctx.config.url, row))
    const managed = await listManagedTeams(
      ctx.db,
      org,
      caller,
      rows.map(({ id }) => id),
    )
    return pageAnswer(page, rows, (row) => ({
      ...presentTeam(ctx.config.url, row),
      viewer: { may: { manage: managed.has(row.id) } },
    }))
  },
})

const getTeamRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/teams/:team',
  summary: 'Get a team',
  scope: 'read_teams',
  permission: 'view_teams',
  query: IncludeViewer,
  answers: { 200: Team },
  async handler({ ctx, org, caller, params, query }) {
    const team = await teams.getVisible(ctx.db, org, caller, params.team)
    if (!query.include_viewer) return ok(presentTeam(ctx.config.url, team))
    const managed = await listManagedTeams(ctx.db, org, caller, [team.id])
    return ok({ ...presentTeam(ctx.config.url, team), viewer: { may: { manage: managed.has(team.id) } } })
  },
})

const createTeamRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/teams',
  summary: 'Create a team',
  scope: 'write_teams',
  permission: 'admin',
  body: CreateTeam,
  answers: { 201: Team },
  errors: { 422: 'The body is not valid, the name is taken, or there are 250 teams already.' },
  async handler({ ctx, org, caller, body }) {
    return created(presentTeam(ctx.config.url, await createTeam({ ctx, org, caller }, body)))
  },
})

const enableTeamsRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/teams/enable',
  summary: 'Turn teams on; an organization without any gets the team "Everyone", with all its members',
  scope: 'write_teams',
  permission: 'admin',
  changesAccess: true,
  answers: { 204: null },
  async handler({ ctx, org, caller }) {
    await enableTeams({ ctx, org, caller })
    return noContent()
  },
})

const updateTeamRoute = route({
  method: ['PUT', 'PATCH'],
  url: '/v2/organizations/:org/teams/:team',
  summary: 'Update a team; a new name makes a new slug',
  scope: 'write_teams',
  permission: 'manage_team',
  body: UpdateTeam,
  answers: { 200: Team },
  errors: { 422: 'The body is not valid, or the name is taken.' },
  async handler({ ctx, org, caller, params, body }) {
    return ok(presentTeam(ctx.config.url, await updateTeam({ ctx, org, caller }, params.team, body)))
  },
})

const deleteTeamRoute = route({
  method: 'DELETE',
  url: '/v2/organizations/:org/teams/:team',
  summary: 'Delete a team; its members stay in the organization',
  scope: 'write_teams',
  permission: 'manage_team',
  answers: { 204: null },
  async handler({ ctx, org, caller, params }) {
    await deleteTeam({ ctx, org, caller }, params.team)
    return noContent()
  },
})

export const teamRoutes = [
  listTeamsRoute,
  getTeamRoute,
  createTeamRoute,
  enableTeamsRoute,
  updateTeamRoute,
  deleteTeamRoute,
]
