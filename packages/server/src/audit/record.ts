// Writes audit events in the transaction of the change, so that neither exists without the other. They are appended to the outbox
// too where an event bus asks for them.
import { sql } from 'kysely'
import type { Caller } from '../auth/caller.ts'
import type { Trx } from '../db/pool.ts'
import { defer } from '../db/batch.ts'
import { newId } from '../lib/ids.ts'
import type { AuditType } from './types.ts'

export type Origin =
  | { kind: 'caller'; caller: Caller }
  /** An operator at the command line, who has no user in the database. */
  | { kind: 'operator'; command: string }
  /** A job, through the agent that runs it. */
  | { kind: 'agent'; agent: AgentContext }
  /** A person who is signing in or accepts an invitation, on a page. */
  | { kind: 'sign_in'; user: { id: string; name: string }; request: Caller['request'] }
  /** The installation itself, by a background task. */
  | { kind: 'system' }

interface AgentContext {
  id: string
  name: string
  connectionState: string
  organizationId: string
  requestIp: string
  /** The address it registered from. */
  sessionIp: string | null
}

export interface AuditEntry {
  organizationId: string
  type: AuditType
  subject: { type: string; uuid: string; name: string | null }
  /** Attributes as they are after the change, and in `previous` as they were; never a secret. */
  data?: Record<string, unknown>
}

export const byCaller = (caller: Caller): Origin => ({ kind: 'caller', caller })

export function recordAudit(trx: Trx, origin: Origin, entry: AuditEntry): Promise<void> {
  const { organizationId, type, subject, data = {} } = entry
  const event = sql`
    with logged as (
      insert into audit_events (id, organization_id, type, occurred_at, actor, subject, context, data)
      values (${newId()}, ${organizationId}, ${type}, clock_timestamp(), ${json(actorOf(origin))},
        ${JSON.stringify(subject)}, ${json(contextOf(origin))}, ${JSON.stringify(data)})
      returning id, organization_id, occurred_at
    )
    insert into events (organization_id, kind, data, created_at)
    select l.organization_id, 'audit.logged', jsonb_build_object('audit_event_id', l.id), l.occurred_at
    from logged l where ${isAskedFor(organizationId)}`
  return defer(trx, [event])
}

/** Without an event bus that asks for audit events, nothing would read the event. */
const isAskedFor = (organizationId: string) => sql<boolean>`
  exists (select from notification_services s
    where s.organization_id = ${organizationId} and s.provider = 'cloud_event_bus'
      and s.settings @> '{"include_audit_events": true}')`

const json = (value: object | null) => (value === null ? null : JSON.stringify(value))

function actorOf(origin: Origin): object | null {
  if (origin.kind === 'agent') return { type: 'Agent', uuid: origin.agent.id, name: origin.agent.name }
  if (origin.kind !== 'caller' && origin.kind !== 'sign_in') return null
  const { user } = origin.kind === 'caller' ? origin.caller : origin
  return { type: 'User', uuid: user.id, name: user.name }
}

function contextOf(origin: Origin): object | null {
  switch (origin.kind) {
    case 'caller': {
      const { request, token, session } = origin.caller
      return {
        type: session === null ? 'APIContext' : 'SessionContext',
        request_ip: request.ip,
        request_user_agent: request.userAgent,
        api_access_token_uuid: token.id,
        ...(session === null ? {} : { session_uuid: session.id }),
      }
    }
    case 'agent': {
      const { id, connectionState, organizationId, requestIp, sessionIp } = origin.agent
      return {
        type: 'AgentAPIContext',
        agent_uuid: id,
        authentication_type: 'job_token',
        agent_connection_state: connectionState,
        organization_uuid: organizationId,
        request_ip: requestIp,
        session_ip: sessionIp,
      }
    }
    case 'sign_in': {
      const { ip, userAgent } = origin.request
      return { type: 'WebContext', request_ip: ip, request_user_agent: userAgent }
    }
    case 'operator':
      return { type: 'CommandLineContext', command: origin.command }
    case 'system':
      return null
  }
}

/** For the event of an update: the attributes that differ as they are in `after`, and in `previous` as they were. */
export function changedAttributes<T extends object>(
  before: T,
  after: T,
  keys: readonly (keyof T & string)[],
): Record<string, unknown> {
  const changed = keys.filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]))
  if (changed.length === 0) return {}
  const pick = (from: T) => Object.fromEntries(changed.map((key) => [key, from[key]]))
  return { ...pick(after), previous: pick(before) }
}
