import { Type } from 'typebox'
import { ok } from '../../../http/answer.ts'
import { cursorAnswer, readCursor } from '../../../http/cursors.ts'
import { route, type RequiredFeature } from '../../../http/route.ts'
import { auditCsv } from './csv.ts'
import { presentAuditEvent } from './present.ts'
import * as auditEvents from './queries.ts'
import { AuditEvent, AuditEventList, AuditEventQuery } from './schema.ts'

const auditLog: RequiredFeature = {
  name: 'audit_log',
  error: {
    status: 403,
    message:
      "Your plan doesn't include audit logging. The operator of this installation can turn it on for the organization.",
  },
}

const listAuditEventsRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/audit_events',
  summary: 'List audit events, newest first',
  scope: 'read_audit_events',
  permission: 'admin',
  feature: auditLog,
  paging: 'cursor',
  query: AuditEventQuery,
  answers: { 200: AuditEventList },
  errors: { 400: 'Both `after` and `before` are given, a cursor is invalid, or `per_page` is out of range.' },
  async handler({ ctx, org, query, url }) {
    const page = readCursor(url, `audit_events ${org.id}`, ctx.keys)
    const rows = await auditEvents.listInOrg(ctx.db, org.id, query, page)
    return cursorAnswer(
      page,
      rows,
      (row) => ({ at: row.occurred_at, id: row.id }),
      (row) => presentAuditEvent(ctx.config.url, org.slug, row),
    )
  },
})

const mostExported = 10_000

const exportAuditEventsRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/audit_events.csv',
  summary: `Get the newest ${mostExported.toLocaleString('en')} audit events as CSV, newest first`,
  scope: 'read_audit_events',
  permission: 'admin',
  feature: auditLog,
  query: AuditEventQuery,
  answers: { 200: Type.String({ contentMediaType: 'text/csv' }) },
  async handler({ ctx, org, query }) {
    const page = { after: null, before: null, limit: mostExported }
    const rows = await auditEvents.listInOrg(ctx.db, org.id, query, page)
    return {
      status: 200,
      body: auditCsv(rows),
      headers: {
        'Content-Type': 'text/csv; charset=utf-8',
        'Content-Disposition': `attachment; filename="audit-log-${org.slug}.csv"`,
      },
    }
  },
})

const getAuditEventRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/audit_events/:event',
  summary: 'Get an audit event',
  scope: 'read_audit_events',
  permission: 'admin',
  feature: auditLog,
  answers: { 200: AuditEvent },
  async handler({ ctx, org, params }) {
    const event = await auditEvents.getInOrg(ctx.db, org.id, params.event)
    return ok(presentAuditEvent(ctx.config.url, org.slug, event))
  },
})

export const auditEventRoutes = [listAuditEventsRoute, exportAuditEventsRoute, getAuditEventRoute]
