// A log of 200 MB: the time until its end is shown, and the memory of the page.
import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { createBuild } from '@millrace/server/conductor/create-build.ts'
import { compactLog } from '@millrace/server/resources/builds/log/ingest/compact.ts'
import { callAgentApi } from '../harness/agent-http.ts'
import type { BenchServer } from '../harness/bench-server.ts'
import { contextOn } from '../harness/context.ts'
import { middle } from '../harness/load.ts'
import { startJob } from '../logs/ingest.ts'
import { row, type Report } from '../harness/report.ts'
import { aBuildRequest, seedPipeline } from '../harness/seed.ts'
import { inTab, untilShown, type Visitor } from './browser.ts'
import { scrollRate } from './scroll.ts'

const logBytes = 200_000_000
const rowsInChunk = 50_000
const rounds = 3
const mostMs = 1000
const mostMegabytes = 300

interface LongLog {
  /** The path of its page. */
  page: string
  bytes: number
  lastText: string
}

/** Sends the log as an agent does, and compacts it as the worker does. */
export async function fillLog(bench: BenchServer, env: Record<string, string>): Promise<LongLog> {
  const { address, agentToken, database, seeded } = bench
  const ctx = contextOn(database, env)
  const pipelineId = await seedPipeline(database.db, seeded, 'long-log', 'steps: [{command: "true"}]')
  const created = await createBuild(
    ctx,
    seeded.orgId,
    aBuildRequest(pipelineId, { creatorId: seeded.userId }),
  )
  if (!created.ok) throw new Error(created.message)
  const job = await startJob(address, agentToken)
  let [bytes, rows] = [0, 0]
  for (let sequence = 1; bytes < logBytes; sequence++) {
    const text = Array.from({ length: rowsInChunk }, (_, index) => aRow(rows + index + 1)).join('')
    const place = `sequence=${sequence}&offset=${bytes}&size=${Buffer.byteLength(text)}`
    const gzipped = gzipSync(text, { level: 1 })
    await callAgentApi(address, job.token, 'POST', `jobs/${job.id}/chunks?${place}`, { gzipped })
    bytes += Buffer.byteLength(text)
    rows += rowsInChunk
  }
  const json = { exit_status: '0', finished_at: new Date().toISOString(), chunks_failed_count: 0 }
  await callAgentApi(address, job.token, 'PUT', `jobs/${job.id}/finish`, { json })
  await compactLog(ctx, { job_id: job.id, organization_id: seeded.orgId })
  return {
    page: `/${seeded.slug}/long-log/builds/1#${job.id}`,
    bytes,
    lastText: `compiled module ${rows}`,
  }
}

/** With its time, as agents send it, and a colour. */
const aRow = (number: number) =>
  `\u001b_bk;t=${1_790_000_000_000 + number}\u0007\u001b[32mcompiled\u001b[0m module ${number}\r\n`

export async function longLog(visitor: Visitor, log: LongLog): Promise<Omit<Report, 'name'>> {
  const opened: Array<{ shownMs: number; megabytes: number; fps: number }> = []
  for (let round = 0; round < rounds; round++)
    opened.push(await inTab(visitor, log.page, (page) => openLog(page, log.lastText)))
  const shown = middle(opened.map(({ shownMs }) => shownMs))
  const megabytes = Math.max(...opened.map((each) => each.megabytes))
  const fps = middle(opened.map((each) => each.fps))
  const what = `log of ${Math.round(log.bytes / 1e6)} MB`
  return {
    rows: [
      row(`${what}, its end is shown`, `${Math.round(shown)} ms`, `median of ${rounds}`),
      row(
        `${what}, JavaScript heap`,
        `${megabytes.toFixed(0)} MB`,
        'the most, after start, end and scrolling',
      ),
      row(`${what}, scrolling`, `${fps.toFixed(0)} fps`),
    ],
    targets: [
      {
        what: `${what}, its end is shown`,
        target: `≤ ${mostMs} ms`,
        measured: `${Math.round(shown)} ms`,
        met: shown <= mostMs,
      },
      {
        what: `${what}, JavaScript heap`,
        target: `< ${mostMegabytes} MB`,
        measured: `${megabytes.toFixed(0)} MB`,
        met: megabytes < mostMegabytes,
      },
    ],
  }
}

async function openLog(page: Page, lastText: string) {
  const seeText = (text: string) =>
    untilShown(
      page,
      (wanted) =>
        [...document.querySelectorAll('[data-row] [data-text]')].some(
          (each) => each.textContent === wanted,
        ) && performance.now(),
      text,
    )
  const shownMs = await seeText(lastText)
  const heaps = [await heapMegabytes(page)]
  await page.locator('[role=region]:has([data-row])').focus()
  await page.keyboard.press('Home')
  await seeText('compiled module 1')
  heaps.push(await heapMegabytes(page))
  const { fps } = await scrollRate(page, '[data-row]')
  heaps.push(await heapMegabytes(page))
  await page.keyboard.press('End')
  await seeText(lastText)
  heaps.push(await heapMegabytes(page))
  return { shownMs, megabytes: Math.max(...heaps), fps }
}

/** Garbage included. */
async function heapMegabytes(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page)
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  await session.detach()
  return usedSize / 1e6
}
