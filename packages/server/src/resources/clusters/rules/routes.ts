import { Type } from 'typebox'
import { byCaller, recordAudit } from '../../../audit/record.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { created, noContent, ok } from '../../../http/answer.ts'
import { pageAnswer, readPage } from '../../../http/paging.ts'
import { route } from '../../../http/route.ts'
import { notFound } from '../../../lib/errors.ts'
import { createRule } from './create.ts'
import { presentRule } from './present.ts'
import * as rules from './queries.ts'
import { CreateRule, Rule, UpdateRule } from './schema.ts'
import { updateRule } from './update.ts'

const listRulesRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/rules',
  summary: 'List what pipelines may do with pipelines of other clusters, oldest first',
  scope: 'read_rules',
  permission: 'member',
  paging: 'pages',
  answers: { 200: Type.Array(Rule) },
  async handler({ ctx, org, caller, url }) {
    const page = readPage(url)
    const rows = await rules.listVisible(ctx.db, org, caller, page)
    return pageAnswer(page, rows, (row) => presentRule(ctx.config.url, org.slug, row))
  },
})

const getRuleRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/rules/:rule',
  summary: 'Get a rule',
  scope: 'read_rules',
  permission: 'member',
  answers: { 200: Rule },
  async handler({ ctx, org, caller, params }) {
    const rule = await rules.getVisible(ctx.db, org, caller, params.rule)
    return ok(presentRule(ctx.config.url, org.slug, rule))
  },
})

const createRuleRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/rules',
  summary: 'Create a rule',
  scope: 'write_rules',
  permission: 'admin',
  body: CreateRule,
  answers: { 201: Rule },
  errors: { 422: 'No such pipelines, a condition that cannot be read, or the rule exists already.' },
  async handler({ ctx, org, caller, body }) {
    return created(presentRule(ctx.config.url, org.slug, await createRule({ ctx, org, caller }, body)))
  },
})

const updateRuleRoute = route({
  method: ['PUT', 'PATCH'],
  url: '/v2/organizations/:org/rules/:rule',
  summary: 'Update what a rule is about, or its description',
  scope: 'write_rules',
  permission: 'admin',
  body: UpdateRule,
  answers: { 200: Rule },
  errors: { 422: 'No such pipelines, a condition that cannot be read, or the rule exists already.' },
  async handler({ ctx, org, caller, params, body }) {
    return ok(
      presentRule(ctx.config.url, org.slug, await updateRule({ ctx, org, caller }, params.rule, body)),
    )
  },
})

const deleteRuleRoute = route({
  method: 'DELETE',
  url: '/v2/organizations/:org/rules/:rule',
  summary: 'Delete a rule',
  scope: 'write_rules',
  permission: 'admin',
  answers: { 204: null },
  async handler({ ctx, org, caller, params }) {
    return inTransaction(ctx.db, async (trx) => {
      const rule = await rules.getVisible(trx, org, caller, params.rule)
      if (!(await rules.deleteInOrg(trx, org.id, rule.id))) throw notFound('No rule found')
      await recordAudit(trx, byCaller(caller), {
        organizationId: org.id,
        type: 'RULE_DELETED',
        subject: { type: 'Rule', uuid: rule.id, name: rule.type },
      })
      return noContent()
    })
  },
})

export const ruleRoutes = [listRulesRoute, getRuleRoute, createRuleRoute, updateRuleRoute, deleteRuleRoute]
