import type { SlowerStep } from '@millrace/server/wire.ts'
import { listAll, openApi } from '../api.ts'
import type { ClientOptions } from '../command.ts'
import { showRows } from '../show.ts'
import { describeDuration } from '../times.ts'

export async function showSlowerSteps(options: ClientOptions & { limit: number }): Promise<void> {
  const api = await openApi(options)
  const rows = await listAll(api.pages<SlowerStep>('insights/slower_steps'), options.limit)
  const nothing = `No step of ${api.org} took longer than usual in the last 7 days.`
  await showRows(options, rows, nothing, () => [
    { title: 'Step', text: ({ name }) => name, least: 12 },
    { title: 'Pipeline', text: ({ pipeline }) => pipeline?.slug ?? null, least: 8 },
    { title: 'Now', text: ({ run_p50_seconds: now }) => describeDuration(now * 1000), align: 'right' },
    { title: 'Usually', text: ({ usual_seconds: usual }) => describeDuration(usual * 1000), align: 'right' },
    { title: 'Slower by', text: ({ change }) => `${Math.round(change * 100)} %`, align: 'right' },
    { title: 'Jobs', text: ({ jobs }) => jobs, align: 'right' },
  ])
}
