// The web in a real browser: what it loads, how soon large pages can be used, and how soon they show a change.
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { freePort } from '../../testbed/dist/free-port.js'
import { startBenchServer, type BenchServer } from './harness/bench-server.ts'
import { middle } from './harness/load.ts'
import { row, type Report } from './harness/report.ts'
import { lacksBrowser, launchBrowser, signIn } from './web/browser.ts'
import { bundleSizes, isSiteBuilt } from './web/bundle.ts'
import { fillLargeBuild, fillPipelines } from './web/fill.ts'
import { liveChanges } from './web/live.ts'
import { fillLog, longLog } from './web/log.ts'
import { manyChanges } from './web/many-changes.ts'
import { buildViews, pipelineList } from './web/pages.ts'
import { plainScrollRate } from './web/scroll.ts'

export async function benchWeb(): Promise<Report> {
  if (!isSiteBuilt()) {
    const why = 'The web is not built, because the bundler needs a newer Node.'
    return { name: 'web', rows: [row('the web', 'not measured', why)], targets: [] }
  }
  const report: Report = { name: 'web', ...bundleSizes() }
  if (lacksBrowser !== null) {
    report.rows.push(row('in a browser', 'not measured', lacksBrowser))
    return report
  }
  const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-web-'))
  const port = String(await freePort())
  const env = { MILLRACE_DATA_DIR: folder, BENCH_PORT: port, MILLRACE_URL: `http://127.0.0.1:${port}` }
  const bench = await startBenchServer(env)
  try {
    const browser = await launchBrowser(folder)
    try {
      for (const part of await measure(bench, browser, env)) {
        report.rows.push(...part.rows)
        report.targets.push(...part.targets)
      }
    } finally {
      await browser.close()
    }
  } finally {
    await bench.stop()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  return report
}

async function measure(
  bench: BenchServer,
  browser: Browser,
  env: Record<string, string>,
): Promise<Array<Omit<Report, 'name'>>> {
  const log = await fillLog(bench, env)
  const build = await fillLargeBuild(bench)
  await fillPipelines(bench)
  const yardsticks = {
    rows: [machineLoad('before'), await plainPage(browser, bench.address), await plainScrollRate(browser)],
    targets: [],
  }
  const visitor = await signIn(browser, bench.address, bench.seeded.token)
  return [
    yardsticks,
    await pipelineList(visitor, bench.seeded.slug),
    await buildViews(visitor, build),
    await longLog(visitor, log),
    await liveChanges(bench, visitor),
    await manyChanges(bench, visitor),
    { rows: [machineLoad('after')], targets: [] },
  ]
}

const machineLoad = (when: string) =>
  row(`load of the machine, ${when}`, (loadavg()[0] ?? 0).toFixed(1), `${cpus().length} cores`)

/** The yardstick: a page of the same server that needs neither JavaScript nor data. */
async function plainPage(browser: Browser, address: string): Promise<Report['rows'][number]> {
  const context = await browser.newContext()
  const times: number[] = []
  for (let round = 0; round < 5; round++) {
    const page = await context.newPage()
    await page.goto(`${address}/sign-in`)
    times.push(await page.evaluate(() => performance.now()))
    await page.close()
  }
  await context.close()
  return row('yardstick: the sign-in page is loaded', `${Math.round(middle(times))} ms`, 'median of 5')
}
