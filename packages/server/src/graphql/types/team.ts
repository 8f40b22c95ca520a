import { urlOf } from '../addresses.ts'
import { embedded, from, list, reference } from '../fields.ts'
import { addressed, byId, givenId, ifGiven, optional, written, writtenEdge } from '../mutations.ts'
import { findAt } from '../node.ts'
import { textOf, type Rest } from '../rest.ts'
import type { BodyInputs, Part } from '../table.ts'
import { addressOfSlug } from './find.ts'

/** There are no package registries here; their rights are stored for clients that set them. */
const rights = [
  'membersCanCreatePipelines',
  'membersCanCreateRegistries',
  'membersCanCreateSuites',
  'membersCanDestroyPackages',
  'membersCanDestroyRegistries',
]

const settings: BodyInputs = {
  defaultMemberRole: 'TeamMemberRole!',
  description: 'String',
  isDefaultTeam: 'Boolean!',
  ...Object.fromEntries(rights.map((right) => [right, ifGiven('Boolean')])),
  name: 'String!',
  privacy: 'TeamPrivacy!',
}

export const teamPart: Part = {
  queries: {
    team: {
      type: 'Team',
      description: 'The slug is that of the organization, a slash, and that of the team.',
      args: { slug: 'ID!' },
      async resolve(_, { slug }: { slug: string }, context) {
        const hint = '`slug` must be that of the organization and that of the team, such as "acme/web".'
        const { org, team: name = '' } = addressOfSlug('Team', slug, hint)
        const id = await findTeam(context.rest, org, name)
        return id === null ? null : findAt(context, 'Team', { org, team: id })
      },
    },
  },
  nodes: {
    Team: {
      createdAt: 'DateTime!',
      createdBy: embedded('User', 'created_by'),
      defaultMemberRole: 'TeamMemberRole!',
      description: 'String',
      isDefaultTeam: from('default', 'Boolean!'),
      members: list('TeamMember', 'members'),
      ...Object.fromEntries(rights.map((right) => [right, 'Boolean!'])),
      name: 'String!',
      organization: reference('Organization'),
      pipelines: list('TeamPipeline', 'pipelines'),
      privacy: 'TeamPrivacy!',
      slug: 'String!',
      suites: list('TeamSuite', 'suites'),
      uuid: 'ID!',
    },
  },
  enums: { TeamPrivacy: 'SECRET VISIBLE', TeamMemberRole: 'MAINTAINER MEMBER' },
  mutations: {
    teamCreate: {
      route: 'POST /teams',
      at: { organizationID: 'Organization' },
      input: settings,
      payload: { organization: addressed('Organization!'), teamEdge: writtenEdge('TeamEdge!') },
    },
    teamUpdate: {
      route: 'PUT',
      at: byId('Team'),
      input: optional(settings),
      payload: { team: written('Team!') },
    },
    teamDelete: {
      route: 'DELETE',
      at: byId('Team'),
      payload: { deletedTeamID: givenId, organization: addressed('Organization!') },
    },
  },
}

const mostPages = 10

/** The UUID of the team with this slug. REST finds teams by UUID only, and an organization has few. */
export async function findTeam(rest: Rest, org: string, slug: string): Promise<string | null> {
  for (let page = 1; page <= mostPages; page++) {
    const query = { page: String(page), per_page: '100' }
    const { rows, hasNext } = await rest.page(`${urlOf('Organization')}/teams`, { org }, query)
    const found = rows.find((row) => row['slug'] === slug)
    if (found !== undefined) return textOf(found['id'])
    if (!hasNext) break
  }
  return null
}
