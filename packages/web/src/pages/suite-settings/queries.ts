import { call } from '../../api/call.ts'
import type { Operations } from '../../api/operations.ts'
import { listQuery } from '../../api/queries.ts'
import type { SuiteAddress } from '../suite/queries.ts'

const org = '/v2/organizations/{org}'
const suite = `${org}/suites/{suite}` as const

type Change = NonNullable<Operations[`PATCH ${typeof suite}`]['body']>

export type Level = 'read' | 'edit'

export const updateSuite = (params: SuiteAddress, body: Change) =>
  call(`PATCH ${suite}`, { params: { ...params }, body })

/** Only on demand, so that it is not kept with the other answers. */
export const readToken = (params: SuiteAddress) =>
  call(`GET ${suite}`, { params: { ...params }, query: { show_api_token: true } })

export const rotateToken = (params: SuiteAddress) =>
  call(`POST ${suite}/rotate_token`, { params: { ...params } })

export const deleteSuite = (params: SuiteAddress) => call(`DELETE ${suite}`, { params: { ...params } })

export const suiteTeamsQuery = (params: SuiteAddress) =>
  listQuery(`GET ${suite}/teams`, { params: { ...params }, query: { per_page: 100 } })

/** Who may edit may read too. */
const levelsOf = (level: Level): Level[] => (level === 'edit' ? ['read', 'edit'] : ['read'])

export const addSuite = (address: { org: string; team: string }, suiteId: string, level: Level) =>
  call(`POST ${org}/teams/{team}/suites`, {
    params: address,
    body: { suite_id: suiteId, access_level: levelsOf(level) },
  })

export const updateTeamSuite = (address: { org: string; team: string }, suiteId: string, level: Level) =>
  call(`PATCH ${org}/teams/{team}/suites/{team_suite}`, {
    params: { ...address, team_suite: suiteId },
    body: { access_level: levelsOf(level) },
  })

export const deleteTeamSuite = (address: { org: string; team: string }, suiteId: string) =>
  call(`DELETE ${org}/teams/{team}/suites/{team_suite}`, { params: { ...address, team_suite: suiteId } })
