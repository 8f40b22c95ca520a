import type { Budget } from '@millrace/server/wire.ts'
import { listAll, openApi } from '../api.ts'
import type { ClientOptions } from '../command.ts'
import { formatAmount } from '../insights/money.ts'
import { showRows } from '../show.ts'

export async function listBudgets(options: ClientOptions): Promise<void> {
  const api = await openApi(options)
  const rows = await listAll(api.pages<Budget>('budgets'))
  await showRows(options, rows, `${api.org} has no budgets that you can see.`, (style) => [
    { title: 'Of', text: ({ pipeline }) => (pipeline === null ? 'team' : 'pipeline') },
    { title: 'Name', text: ({ pipeline, team }) => (pipeline ?? team)?.slug ?? null, least: 8 },
    { title: 'Month', text: ({ month }) => month },
    { title: 'Spent', text: ({ spent }) => formatAmount(spent), align: 'right' },
    { title: 'Budget', text: ({ amount }) => formatAmount(amount), align: 'right' },
    { title: '', text: ({ currency }) => currency },
    {
      title: 'Used',
      styled: ({ percent }) => {
        const text = `${Math.floor(percent)} %`
        return percent >= 100 ? style.paint('red', text) : percent >= 80 ? style.paint('yellow', text) : text
      },
      align: 'right',
    },
  ])
}
