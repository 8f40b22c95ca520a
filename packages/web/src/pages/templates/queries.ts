import { call, type Answer } from '../../api/call.ts'
import type { Operations } from '../../api/operations.ts'
import { listQuery } from '../../api/queries.ts'

const templates = '/v2/organizations/{org}/pipeline-templates'

export type Template = Answer<`GET ${typeof templates}`>[number]
type NewTemplate = NonNullable<Operations[`POST ${typeof templates}`]['body']>
type TemplateChange = NonNullable<Operations[`PATCH ${typeof templates}/{template}`]['body']>

export const templatesListQuery = (org: string) =>
  listQuery(`GET ${templates}`, { params: { org }, query: { per_page: 100 } })

export const createTemplate = (org: string, body: NewTemplate, idempotencyKey: string) =>
  call(`POST ${templates}`, { params: { org }, body, idempotencyKey })

export const updateTemplate = (org: string, template: string, body: TemplateChange) =>
  call(`PATCH ${templates}/{template}`, { params: { org, template }, body })

export const deleteTemplate = (org: string, template: string) =>
  call(`DELETE ${templates}/{template}`, { params: { org, template } })
