// Thousands of changes at once, as when a large build is canceled, and the frames of a page that shows them.
import type { Page } from 'playwright-core'
import { createBuild } from '@millrace/server/conductor/create-build.ts'
import type { BenchServer } from '../harness/bench-server.ts'
import { contextOn } from '../harness/context.ts'
import { row, type Report } from '../harness/report.ts'
import { aBuildRequest, seedPipeline } from '../harness/seed.ts'
import { inTab, untilShown, type Visitor } from './browser.ts'

const slug = 'many-changes'
const steps = 4
const jobsEach = 1000
const jobs = (steps * jobsEach).toLocaleString('en')
const leastRate = 500
const mostFrameMs = 50

interface Frames {
  longestMs: number
  count: number
}

export async function manyChanges(bench: BenchServer, visitor: Visitor): Promise<Omit<Report, 'name'>> {
  const { database, seeded } = bench
  const step = `{command: "true", parallelism: ${jobsEach}}`
  const configuration = `steps: [${Array.from({ length: steps }, () => step).join(', ')}]`
  const pipelineId = await seedPipeline(database.db, seeded, slug, configuration)
  const request = aBuildRequest(pipelineId, { creatorId: seeded.userId })
  const created = await createBuild(contextOn(database), seeded.orgId, request)
  if (!created.ok) throw new Error(created.message)
  const path = `/${seeded.slug}/${slug}/builds/1?view=table&filter=canceled`
  const { seconds, longestMs, count } = await inTab(visitor, path, (page) => cancelAll(bench, page))
  const rate = (steps * jobsEach) / seconds
  const what = `${jobs} changes at ${Math.round(rate)} a second`
  return {
    rows: [row(what, `longest frame ${Math.round(longestMs)} ms`, `${count} frames`)],
    targets: [
      {
        what: `changes of jobs to the document, longest frame at ${leastRate} a second or more`,
        target: `≤ ${mostFrameMs} ms`,
        measured: `${Math.round(longestMs)} ms at ${Math.round(rate)} a second`,
        met: rate >= leastRate && longestMs <= mostFrameMs,
      },
    ],
  }
}

async function cancelAll(
  { address, seeded }: BenchServer,
  page: Page,
): Promise<Frames & { seconds: number }> {
  const shows = (text: string) =>
    untilShown(
      page,
      (wanted) =>
        [...document.querySelectorAll('[role=status]')].some((each) => each.textContent === wanted) &&
        performance.now(),
      text,
    )
  await shows(`0 of ${jobs} jobs`)
  await page.evaluate(countFrames)
  const begunAt = performance.now()
  const answer = await fetch(`${address}/v2/organizations/${seeded.slug}/pipelines/${slug}/builds/1/cancel`, {
    method: 'PUT',
    headers: { Authorization: `Bearer ${seeded.token}` },
  })
  if (!answer.ok) throw new Error(await answer.text())
  await shows(`${jobs} jobs`)
  const seconds = (performance.now() - begunAt) / 1000
  const frames = await page.evaluate(() => (globalThis as unknown as { framesSeen: Frames }).framesSeen)
  return { ...frames, seconds }
}

/** Runs in the page: notes the longest time from one frame to the next. */
function countFrames(): void {
  const seen = { longestMs: 0, count: 0 }
  Object.assign(globalThis, { framesSeen: seen })
  let last = performance.now()
  const next = (at: number) => {
    if (seen.count > 0) seen.longestMs = Math.max(seen.longestMs, at - last)
    seen.count++
    last = at
    requestAnimationFrame(next)
  }
  requestAnimationFrame(next)
}
