import { call, type Answer } from '../../api/call.ts'
import type { Operations } from '../../api/operations.ts'
import { listQuery } from '../../api/queries.ts'

const members = '/v2/organizations/{org}/members'

export type Member = Answer<`GET ${typeof members}`>[number]
type MemberChange = NonNullable<Operations[`PATCH ${typeof members}/{user}`]['body']>

export const roleNames = { member: 'Member', admin: 'Administrator' } as const

export const membersQuery = (org: string, q = '') =>
  listQuery(`GET ${members}`, { params: { org }, query: { per_page: 100, ...(q === '' ? {} : { q }) } })

export const updateMember = (org: string, user: string, body: MemberChange) =>
  call(`PATCH ${members}/{user}`, { params: { org, user }, body })

export const deleteMember = (org: string, user: string) =>
  call(`DELETE ${members}/{user}`, { params: { org, user } })
