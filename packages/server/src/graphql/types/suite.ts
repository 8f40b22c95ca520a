// Test suites, and what teams may do with them.
import { urlOf } from '../addresses.ts'
import { connectWhole, pageArgs, type PageArgs } from '../connections.ts'
import { atUrl, embedded, from, nodeAtUrl, reference } from '../fields.ts'
import { addressed, byId, givenId, idOf, written, writtenEdge } from '../mutations.ts'
import { Node } from '../node.ts'
import { listOf, rowOf, textOf, type Row } from '../rest.ts'
import type { BodyInput, Field, Part } from '../table.ts'
import { idsWith } from './team-membership.ts'

const levels: BodyInput = {
  type: 'SuiteAccessLevels!',
  toBody: (level) => (level === 'manage_and_read' ? ['read', 'edit'] : ['read']),
}

const accessLevel: Field = {
  type: 'SuiteAccessLevels!',
  resolve: async (source) =>
    listOf(await source.get('access_level')).includes('edit') ? 'manage_and_read' : 'read_only',
}

export const suitePart: Part = {
  nodes: {
    Suite: {
      applicationName: 'String',
      color: 'String',
      createdAt: 'DateTime',
      createdBy: embedded('User', 'created_by'),
      defaultBranch: { type: 'String!', resolve: (source) => source.text('default_branch') },
      emoji: 'String',
      name: 'String!',
      organization: reference('Organization'),
      slug: 'String!',
      teams: {
        type: 'TeamSuiteConnection',
        description: 'The teams that have access, of those that the caller may see.',
        args: { ...pageArgs, order: { type: 'TeamSuiteOrder', defaultValue: 'recently_created' } },
        async resolve(source, args: PageArgs & { order: string }, { rest }) {
          const address = { ...source.address, suite: await source.text('slug') }
          const shared = { suite_id: await source.get('id'), suite_url: await source.get('url') }
          return connectWhole(
            rest,
            { url: `${urlOf('Suite')}/teams`, params: address },
            args,
            (rows) => inOrder(rows, args.order),
            (row) =>
              new Node('TeamSuite', { ...address, team: textOf(teamIn(row)['id']) }, { ...row, ...shared }),
          )
        },
      },
      url: from('web_url', 'String'),
      uuid: 'ID!',
    },
    TeamSuite: {
      ...idsWith('TeamSuite', 'suite_id', 'It holds the ids of the team and of the suite.'),
      accessLevel,
      createdAt: 'DateTime!',
      suite: atUrl('Suite', 'suite_url', 'suite_id'),
      team: reference('Team'),
    },
  },
  enums: {
    SuiteAccessLevels: 'MANAGE_AND_READ READ_ONLY',
    TeamSuiteOrder: 'NAME RECENTLY_CREATED RELEVANCE',
  },
  mutations: {
    teamSuiteCreate: {
      route: 'POST /suites',
      at: { teamID: 'Team' },
      input: { accessLevel: levels, suiteID: idOf('Suite', 'suite_id', 'ID!') },
      payload: {
        suite: {
          type: 'Suite',
          resolve: ({ row }, _, context) => nodeAtUrl(context, 'Suite', row['suite_url'], row['suite_id']),
        },
        team: addressed('Team'),
        teamSuite: written('TeamSuite'),
        teamSuiteEdge: writtenEdge('TeamSuiteEdge'),
      },
    },
    teamSuiteUpdate: {
      route: 'PUT',
      at: byId('TeamSuite'),
      input: { accessLevel: levels },
      payload: { teamSuite: written('TeamSuite!') },
    },
    teamSuiteDelete: {
      route: 'DELETE',
      at: byId('TeamSuite'),
      input: { force: { type: 'Boolean', description: 'Nothing needs it here.' } },
      payload: { deletedTeamSuiteID: givenId, team: addressed('Team') },
    },
  },
}

const teamIn = (row: Row): Row => rowOf(row['team'])

function inOrder(rows: Row[], order: string): Row[] {
  if (order === 'recently_created') return rows.toReversed()
  const nameOf = (row: Row) => textOf(teamIn(row)['name']).toLowerCase()
  return rows.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
}
