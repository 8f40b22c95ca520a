// The log of a job, as a terminal would show it.
import type { LogIndex, LogRows } from '@millrace/server/wire.ts'
import type { Api } from '../api.ts'
import { findJob } from '../job/find-job.ts'
import { openStyle, type Style } from '../style.ts'
import { describeDuration } from '../times.ts'
import { followLog } from './follow-log.ts'
import { showLines } from '../pager.ts'
import { renderRow, rowJson, type LogOptions } from './render.ts'
import { isMarker, type Row } from '../log-rows.ts'

export async function showLog(text: string | undefined, options: LogOptions): Promise<void> {
  const { api, id } = await findJob(text, options)
  if (options.follow) {
    await followLog(api, id, options)
    return
  }
  if (options.json) {
    const lines: object[] = []
    for await (const row of listRows(api, id, options.tail)) lines.push(rowJson(row))
    console.log(JSON.stringify({ job_id: id, lines }))
    return
  }
  const style = openStyle(options)
  const durations = process.stdout.isTTY ? await listDurations(api, id) : new Map<number, number>()
  await showLines(lines(api, id, options, style, durations))
}

const PAGE = 2000

/** Rows of a running log are those of now. */
async function* listRows(api: Api, id: string, tail?: number): AsyncGenerator<Row & { number?: number }> {
  let from = 1
  if (tail !== undefined) {
    const { total } = await api.get<LogRows>(`jobs/${id}/log/rows?tail=1`)
    from = Math.max(1, total - tail + 1)
  }
  for (;;) {
    const page = await api.get<LogRows>(`jobs/${id}/log/rows?from=${from}&limit=${PAGE}`)
    yield* page.rows
    from += page.rows.length
    if (page.rows.length === 0 || from > page.total) return
  }
}

async function* lines(
  api: Api,
  id: string,
  { tail, times }: LogOptions,
  style: Style,
  durations: ReadonlyMap<number, number>,
): AsyncGenerator<string> {
  const { total } = await api.get<LogRows>(`jobs/${id}/log/rows?tail=1`)
  let number = tail === undefined ? 1 : Math.max(1, total - tail + 1)
  for await (const row of listRows(api, id, tail)) {
    const duration = durations.get(number)
    const took = duration === undefined ? '' : style.dim(`  (${describeDuration(duration)})`)
    if (!isMarker(row)) yield `${renderRow(row, style, times === true)}${took}`
    number += 1
  }
}

/** How long each group took, by the row of its header. */
async function listDurations(api: Api, id: string): Promise<Map<number, number>> {
  const { groups } = await api.get<LogIndex>(`jobs/${id}/log/index`)
  return new Map(groups.flatMap(({ row, duration_ms: ms }) => (ms === null ? [] : [[row, ms] as const])))
}
