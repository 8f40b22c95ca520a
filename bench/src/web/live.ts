// The time from a job's change of state to the document of an open page. The clock starts when the agent sends its request,
// so the figure includes the transaction; the time of the request alone is shown beside it.
import type { Page } from 'playwright-core'
import { createBuild } from '@millrace/server/conductor/create-build.ts'
import { callAgentApi, connectAgent } from '../harness/agent-http.ts'
import type { BenchServer } from '../harness/bench-server.ts'
import { contextOn } from '../harness/context.ts'
import { row, type Report } from '../harness/report.ts'
import { aBuildRequest, seedPipeline } from '../harness/seed.ts'
import { inTab, untilShown, type Visitor } from './browser.ts'

const jobs = 50
const most = 300

interface Change {
  requestMs: number
  shownMs: number
}

export async function liveChanges(bench: BenchServer, visitor: Visitor): Promise<Omit<Report, 'name'>> {
  const { database, seeded } = bench
  const configuration = `steps: [{command: "true", parallelism: ${jobs}}]`
  const pipelineId = await seedPipeline(database.db, seeded, 'live', configuration)
  const created = await createBuild(
    contextOn(database),
    seeded.orgId,
    aBuildRequest(pipelineId, { creatorId: seeded.userId }),
  )
  if (!created.ok) throw new Error(created.message)
  const path = `/${seeded.slug}/live/builds/1?view=table`
  const changes = await inTab(visitor, path, (page) => runJobs(bench, page))
  const at = (share: number, times: number[]) =>
    times.toSorted((a, b) => a - b)[Math.floor(times.length * share)] ?? Number.NaN
  const shown = changes.map(({ shownMs }) => shownMs)
  const requests = changes.map(({ requestMs }) => requestMs)
  const figures = { p50: at(0.5, shown), p95: at(0.95, shown) }
  return {
    rows: [
      row(
        'change of a job to the document',
        `p50 ${figures.p50.toFixed(0)} ms`,
        `p95 ${figures.p95.toFixed(0)} ms, most ${Math.max(...shown).toFixed(0)} ms, ${shown.length} changes`,
      ),
      row(
        'the request of the change alone',
        `p50 ${at(0.5, requests).toFixed(0)} ms`,
        `p95 ${at(0.95, requests).toFixed(0)} ms`,
      ),
    ],
    targets: Object.entries(figures).map(([name, value]) => ({
      what: `change of a job to the document, ${name}`,
      target: `≤ ${most} ms`,
      measured: `${value.toFixed(0)} ms`,
      met: value <= most,
    })),
  }
}

async function runJobs({ address, agentToken }: BenchServer, page: Page): Promise<Change[]> {
  // All rows are on screen, wherever a change of state sorts them.
  await page.setViewportSize({ width: 1440, height: 400 + jobs * 60 })
  await untilShown(
    page,
    (count) => document.querySelectorAll('[role=row] a[href^="#"]').length >= count && performance.now(),
    jobs,
  )
  await page.evaluate(noteStates)
  const session = await connectAgent(address, agentToken)
  const changes: Change[] = []
  while (changes.length < jobs * 2) {
    const { job } = await callAgentApi<{ job?: { id: string } }>(address, session.token, 'GET', 'ping')
    if (job === undefined) continue
    const path = `jobs/${job.id}`
    let token = ''
    const accept = async () => {
      const json = { start: true }
      const answer = await callAgentApi<{ token: string }>(address, session.token, 'PUT', `${path}/accept`, {
        json,
      })
      token = answer.token
    }
    changes.push(await timeChange(page, `${job.id} Running`, accept))
    const finish = () => {
      const json = { exit_status: '0', finished_at: new Date().toISOString(), chunks_failed_count: 0 }
      return callAgentApi(address, token, 'PUT', `${path}/finish`, { json })
    }
    changes.push(await timeChange(page, `${job.id} Passed`, finish))
  }
  return changes
}

async function timeChange(page: Page, state: string, change: () => Promise<unknown>): Promise<Change> {
  const sentAt = performance.timeOrigin + performance.now()
  await change()
  const requestMs = performance.timeOrigin + performance.now() - sentAt
  const shownAt = await untilShown(
    page,
    (wanted) => (globalThis as { statesSeen?: Map<string, number> }).statesSeen?.get(wanted) ?? false,
    state,
  )
  return { requestMs, shownMs: shownAt - sentAt }
}

/** Runs in the page: notes when each state of each job is first in the document. */
function noteStates(): void {
  const seen = new Map<string, number>()
  Object.assign(globalThis, { statesSeen: seen })
  new MutationObserver(() => {
    const at = performance.timeOrigin + performance.now()
    for (const link of document.querySelectorAll('[role=row] a[href^="#"]')) {
      const state = link.closest('[role=row]')?.querySelector('[role=cell]')?.textContent ?? ''
      const key = `${link.getAttribute('href')?.slice(1)} ${state.trim()}`
      if (!seen.has(key)) seen.set(key, at)
    }
  }).observe(document.body, { subtree: true, childList: true, characterData: true })
}
