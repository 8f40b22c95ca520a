import { call, type Answer } from '../../api/call.ts'
import type { Operations } from '../../api/operations.ts'
import { listQuery } from '../../api/queries.ts'

const rules = '/v2/organizations/{org}/rules'

export type Rule = Answer<`GET ${typeof rules}`>[number]
type NewRule = NonNullable<Operations[`POST ${typeof rules}`]['body']>
type RuleChange = NonNullable<Operations[`PATCH ${typeof rules}/{rule}`]['body']>

/** What a rule lets the first pipeline do. */
export const actionNames: Readonly<Record<Rule['type'], string>> = {
  'pipeline.trigger_build.pipeline': 'trigger builds of',
  'pipeline.artifacts_read.pipeline': 'read artifacts of',
}

export const rulesQuery = (org: string) =>
  listQuery(`GET ${rules}`, { params: { org }, query: { per_page: 100 } })

export const createRule = (org: string, body: NewRule, idempotencyKey: string) =>
  call(`POST ${rules}`, { params: { org }, body, idempotencyKey })

export const updateRule = (org: string, rule: string, body: RuleChange) =>
  call(`PATCH ${rules}/{rule}`, { params: { org, rule }, body })

export const deleteRule = (org: string, rule: string) =>
  call(`DELETE ${rules}/{rule}`, { params: { org, rule } })

/** The slugs of pipelines, to choose from while typing. */
export async function findPipelineSlugs(org: string, text: string, signal: AbortSignal) {
  const query = { per_page: 20, ...(text === '' ? {} : { name: text }) }
  const found = await call('GET /v2/organizations/{org}/pipelines', { params: { org }, query, signal })
  return found.map(({ slug, name }) => ({ slug, name }))
}
