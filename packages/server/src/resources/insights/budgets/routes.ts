import { Type } from 'typebox'
import { created, noContent, ok } from '../../../http/answer.ts'
import { pageAnswer, readPage } from '../../../http/paging.ts'
import { route } from '../../../http/route.ts'
import { createBudget } from './create.ts'
import { deleteBudget } from './delete.ts'
import { monthOf } from './month.ts'
import { presentBudget } from './present.ts'
import * as budgets from './queries.ts'
import { Budget, CreateBudget, UpdateBudget } from './schema.ts'
import { updateBudget } from './update.ts'

const listBudgetsRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/budgets',
  summary:
    'List budgets, oldest first; members see those of pipelines that they may read, and of their teams',
  scope: 'read_builds',
  permission: 'member',
  paging: 'pages',
  answers: { 200: Type.Array(Budget) },
  async handler({ ctx, org, caller, url }) {
    const [page, month] = [readPage(url), monthOf(ctx.now())]
    const rows = await budgets.listVisible(ctx.db, org, caller, month, page)
    return pageAnswer(page, rows, (row) => presentBudget(ctx.config.url, org.slug, month, row))
  },
})

const getBudgetRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/budgets/:budget',
  summary: 'Get a budget, and what is spent of it',
  scope: 'read_builds',
  permission: 'member',
  answers: { 200: Budget },
  async handler({ ctx, org, caller, params }) {
    const month = monthOf(ctx.now())
    const budget = await budgets.getVisible(ctx.db, org, caller, month, params.budget)
    return ok(presentBudget(ctx.config.url, org.slug, month, budget))
  },
})

const createBudgetRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/budgets',
  summary: 'Create a monthly budget of a pipeline or a team',
  scope: 'write_organization_settings',
  permission: 'admin',
  body: CreateBudget,
  answers: { 201: Budget },
  errors: { 422: 'The body is not valid, or the pipeline or team has a budget already.' },
  async handler({ ctx, org, caller, body }) {
    const budget = await createBudget({ ctx, org, caller }, body)
    return created(presentBudget(ctx.config.url, org.slug, monthOf(ctx.now()), budget))
  },
})

const updateBudgetRoute = route({
  method: ['PUT', 'PATCH'],
  url: '/v2/organizations/:org/budgets/:budget',
  summary: 'Change the amount of a budget',
  scope: 'write_organization_settings',
  permission: 'admin',
  body: UpdateBudget,
  answers: { 200: Budget },
  errors: { 422: 'The body is not valid.' },
  async handler({ ctx, org, caller, params, body }) {
    const budget = await updateBudget({ ctx, org, caller }, params.budget, body)
    return ok(presentBudget(ctx.config.url, org.slug, monthOf(ctx.now()), budget))
  },
})

const deleteBudgetRoute = route({
  method: 'DELETE',
  url: '/v2/organizations/:org/budgets/:budget',
  summary: 'Delete a budget',
  scope: 'write_organization_settings',
  permission: 'admin',
  answers: { 204: null },
  async handler({ ctx, org, caller, params }) {
    await deleteBudget({ ctx, org, caller }, params.budget)
    return noContent()
  },
})

export const budgetRoutes = [
  listBudgetsRoute,
  getBudgetRoute,
  createBudgetRoute,
  updateBudgetRoute,
  deleteBudgetRoute,
]
