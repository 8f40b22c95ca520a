import { call, type Answer } from '../../api/call.ts'
import type { Schemas } from '../../api/operations.ts'
import { query } from '../../api/queries.ts'

const tokens = '/v2/user/access-tokens'
const sessions = '/v2/user/sessions'

export type Token = Answer<`GET ${typeof tokens}`>[number]
export type Session = Answer<`GET ${typeof sessions}`>[number]

export const tokensQuery = () => query(`GET ${tokens}`, { params: {}, query: { per_page: 100 } })

export const createToken = (body: Schemas['CreateUserAccessToken'], idempotencyKey: string) =>
  call(`POST ${tokens}`, { params: {}, body, idempotencyKey })

export const revokeToken = (id: string) =>
  call(`DELETE ${tokens}/{access_token}`, { params: { access_token: id } })

export const sessionsQuery = () => query(`GET ${sessions}`, { params: {}, query: { per_page: 100 } })

export const endSession = (id: string) => call(`DELETE ${sessions}/{session}`, { params: { session: id } })

export const endAllSessions = () => call(`DELETE ${sessions}`, { params: {} })
