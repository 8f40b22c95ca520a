import type { Command } from 'commander'
import { clientCommand, type ClientOptions } from '../../client/command.ts'

export const budgetList = (): Command =>
  clientCommand(
    'list',
    'List monthly budgets of pipelines and teams, and what is spent.',
    'budget list',
  ).action(async (options: ClientOptions) => {
    const { listBudgets } = await import('../../client/budget/list.ts')
    await listBudgets(options)
  })
