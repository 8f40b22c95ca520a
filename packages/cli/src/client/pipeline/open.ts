import type { Pipeline } from '@millrace/server/wire.ts'
import { openApi } from '../api.ts'
import type { ClientOptions } from '../command.ts'
import { openPage } from '../browser.ts'
import { findTarget } from '../find-target.ts'

export async function openPipeline(given: string | undefined, options: ClientOptions): Promise<void> {
  const api = await openApi(options)
  const { pipeline } = await findTarget(api, { pipeline: given })
  const { web_url } = await api.get<Pipeline>(`pipelines/${encodeURIComponent(pipeline)}`)
  await openPage(options, web_url)
}
