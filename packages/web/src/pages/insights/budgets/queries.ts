import { call, callPage, readAll, type Answer } from '../../../api/call.ts'
import type { Schemas } from '../../../api/operations.ts'
import { keyOf } from '../../../api/queries.ts'

const budgets = '/v2/organizations/{org}/budgets'

export type Budget = Answer<`GET ${typeof budgets}`>[number]

/** All that the person may see: those of which most is spent come first. */
export const budgetsQuery = (org: string) => ({
  queryKey: [...keyOf(`GET ${budgets}`, { params: { org } }), 'all'],
  queryFn: async ({ signal }: { signal: AbortSignal }): Promise<Budget[]> => {
    const all = await readAll((page) =>
      callPage(`GET ${budgets}`, { params: { org }, query: { per_page: 100, page }, signal }),
    )
    return all.toSorted((a, b) => b.percent - a.percent)
  },
  refetchInterval: 15_000,
})

export const createBudget = (org: string, body: Schemas['CreateBudget'], idempotencyKey: string) =>
  call(`POST ${budgets}`, { params: { org }, body, idempotencyKey })

export const updateBudget = (org: string, id: string, amount: number) =>
  call(`PATCH ${budgets}/{budget}`, { params: { org, budget: id }, body: { amount } })

export const deleteBudget = (org: string, id: string) =>
  call(`DELETE ${budgets}/{budget}`, { params: { org, budget: id } })
