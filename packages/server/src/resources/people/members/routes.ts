import { Type } from 'typebox'
import { noContent, ok } from '../../../http/answer.ts'
import { pageAnswer, readPage } from '../../../http/paging.ts'
import { uuid } from '../../../http/params.ts'
import { route } from '../../../http/route.ts'
import { deleteMember } from './delete.ts'
import { presentMember } from './present.ts'
import * as members from './queries.ts'
import { MemberRole } from '../schema.ts'
import { Uuid } from '../../schema.ts'
import { Member, UpdateMember } from './schema.ts'
import { updateMember } from './update.ts'

const listMembersRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/members',
  summary: 'List the members of an organization, oldest first',
  scope: 'read_organizations',
  permission: 'view_teams',
  paging: 'pages',
  query: {
    email: Type.Optional(Type.String({ description: 'The member with this address, in any case.' })),
    role: Type.Optional(Type.Union(MemberRole.anyOf, { description: 'Those with this role.' })),
    q: Type.Optional(Type.String({ description: 'Part of the name or of the address, in any case.' })),
    id: Type.Optional(Type.Array(Uuid, { maxItems: 100, description: 'Those with one of these UUIDs.' })),
  },
  answers: { 200: Type.Array(Member) },
  async handler({ ctx, org, caller, query, url }) {
    const page = readPage(url)
    const rows = await members.listInOrg(ctx.db, org.id, { ...query, ...page })
    return pageAnswer(page, rows, (row) => presentMember(org, caller, row))
  },
})

const getMemberRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/members/:user',
  summary: 'Get a member of an organization',
  scope: 'read_organizations',
  permission: 'view_teams',
  params: { user: uuid('member') },
  answers: { 200: Member },
  async handler({ ctx, org, caller, params }) {
    const member = await members.getInOrg(ctx.db, org.id, params.user)
    return ok(presentMember(org, caller, member))
  },
})

const updateMemberRoute = route({
  method: ['PUT', 'PATCH'],
  url: '/v2/organizations/:org/members/:user',
  summary: 'Change the role or the single-sign-on mode of a member',
  scope: 'write_organizations',
  permission: 'admin',
  params: { user: uuid('member') },
  body: UpdateMember,
  changesAccess: true,
  answers: { 200: Member },
  errors: {
    403: 'The caller is no administrator, or this is their own membership.',
    422: 'Neither field is given, a value is not supported, or nobody would be left as an administrator.',
  },
  async handler({ ctx, org, caller, params, body }) {
    return ok(presentMember(org, caller, await updateMember({ ctx, org, caller }, params.user, body)))
  },
})

const deleteMemberRoute = route({
  method: 'DELETE',
  url: '/v2/organizations/:org/members/:user',
  summary: 'Remove a member from an organization and from its teams',
  scope: 'write_organizations',
  permission: 'admin',
  params: { user: uuid('member') },
  changesAccess: true,
  answers: { 204: null },
  errors: { 422: 'Nobody would be left as an administrator.' },
  async handler({ ctx, org, caller, params }) {
    await deleteMember({ ctx, org, caller }, params.user)
    return noContent()
  },
})

export const memberRoutes = [listMembersRoute, getMemberRoute, updateMemberRoute, deleteMemberRoute]
