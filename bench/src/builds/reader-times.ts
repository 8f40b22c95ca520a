// The time to read and plan a large pipeline, and to refuse a hostile one.
import { plan } from '@millrace/engine/plan.ts'
import { readPipeline } from '@millrace/engine/steps/document.ts'
import { row, type Report } from '../harness/report.ts'

const hostile: Record<string, string> = {
  'alias bomb':
    `a: &a [x]\n${Array.from({ length: 40 }, (_, i) => `b${i}: &b${i} [${'*a,'.repeat(20)}]`).join('\n')}\n`.padEnd(
      10_000_000,
      '#',
    ),
  'deep nesting': '['.repeat(10_000_000),
  'one long line': `steps: "${'x'.repeat(10_000_000)}"`,
}

export async function readerTimes(): Promise<Omit<Report, 'name'>> {
  const text = `steps:\n${Array.from({ length: 2000 }, (_, i) => `  - {label: "Step ${i}", key: s${i}, command: "make ${i}"}`).join('\n')}`
  const rows: Report['rows'] = []
  const start = performance.now()
  const read = readPipeline(text, { origin: 'stored', maxBytes: 1024 * 1024 })
  if (!read.ok) throw new Error(read.problems[0]?.message)
  const readMs = performance.now() - start
  let ids = 0
  const planned = plan(read.document, facts, {
    mint: () => String(ids++),
    at: '2026-01-01T00:00:00.000Z',
    scheduledAt: '2026-01-01T00:00:00.000Z',
    jobsInBuild: 0,
    uploadsInBuild: 0,
    upload: null,
  })
  if (!planned.ok) throw new Error(planned.message)
  rows.push(
    row(
      'read and plan 2,000 steps',
      `${(performance.now() - start).toFixed(0)} ms`,
      `${readMs.toFixed(0)} ms of it reading`,
    ),
  )
  for (const [name, bad] of Object.entries(hostile)) {
    const from = performance.now()
    const refused = readPipeline(bad, { origin: 'upload', maxBytes: 1024 * 1024 })
    if (refused.ok) throw new Error(`10 MB of ${name} were accepted.`)
    rows.push(row(`refuse 10 MB of ${name}`, `${(performance.now() - from).toFixed(1)} ms`))
  }
  return { rows, targets: [] }
}

const facts = {
  organization: { id: 'o', slug: 'o' },
  pipeline: { id: 'p', slug: 'p', defaultBranch: 'main', repository: 'r' },
  env: () => undefined,
  build: {
    id: 'b',
    number: 1,
    branch: 'main',
    commit: 'HEAD',
    tag: null,
    message: null,
    state: 'creating',
    blockedState: null,
    fixed: null,
    source: 'api',
    author: null,
    creator: null,
    pullRequest: null,
  },
}
