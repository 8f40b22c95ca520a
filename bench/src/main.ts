// `npm run bench` runs every benchmark, `npm run bench -- NAME` one. A number sets the size where a benchmark has one:
// `npm run bench -- retention 10000`. Absolute numbers depend on the
// machine, so the targets are ratios to yardsticks measured in the same run.
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { benchApi } from './api.ts'
import { benchBuildCost } from './build-cost.ts'
import { benchBuilds } from './builds.ts'
import { benchCli } from './cli.ts'
import { benchCache } from './cache.ts'
import { benchDispatch } from './dispatch.ts'
import { benchHosted } from './hosted.ts'
import { benchHostileText } from './hostile/texts.ts'
import { benchHostile } from './hostile.ts'
import { benchIdle } from './idle.ts'
import { benchInsight } from './insight.ts'
import { benchLogSearch } from './log-search.ts'
import { benchNotify } from './notify.ts'
import { benchPeers } from './peers.ts'
import { benchPartitions } from './partitions.ts'
import type { Report } from './harness/report.ts'
import { printReport } from './harness/report.ts'
import { benchRetention } from './retention.ts'
import { benchStart } from './start.ts'
import { benchWeb } from './web.ts'

const isNumber = (text: string) => /^[1-9]\d*$/.test(text)
const [size] = process.argv.slice(2).filter(isNumber).map(Number)

const benchmarks: Record<string, () => Promise<Report>> = {
  api: benchApi,
  'build-cost': benchBuildCost,
  builds: benchBuilds,
  cli: benchCli,
  cache: () => benchCache(size),
  dispatch: benchDispatch,
  hosted: benchHosted,
  'hostile-text': benchHostileText,
  hostile: benchHostile,
  idle: () => benchIdle(size),
  insight: () => benchInsight(size),
  'log-search': () => benchLogSearch(size),
  notify: benchNotify,
  peers: benchPeers,
  partitions: benchPartitions,
  retention: () => benchRetention(size),
  start: benchStart,
  web: benchWeb,
}

const wanted = process.argv.slice(2).filter((text) => !isNumber(text))
const unknown = wanted.filter((name) => !(name in benchmarks))
if (unknown.length > 0) {
  console.error(
    `There is no benchmark ${unknown.join(', ')}; there are ${Object.keys(benchmarks).join(', ')}.`,
  )
  process.exit(2)
}

const reports: Report[] = []
for (const [name, run] of Object.entries(benchmarks)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  const report = await run()
  printReport(report)
  reports.push(report)
}

const folder = fileURLToPath(new URL('../results/', import.meta.url))
mkdirSync(folder, { recursive: true })
const machine = { node: process.version, cores: cpus().length, cpu: cpus()[0]?.model ?? 'unknown' }
writeFileSync(
  `${folder}latest.json`,
  `${JSON.stringify({ at: new Date().toISOString(), machine, reports }, null, 2)}\n`,
)
console.log(`\nWritten to bench/results/latest.json.`)
