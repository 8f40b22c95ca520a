// Texts that somebody wrote to keep the server busy. Each is read at a quarter of its size and at its full size: reading costs in
// proportion to the text, or less where it ends at a limit. A reading that costs the square of the text takes 16 times as long.
import { createRedactor } from '@millrace/agent/log/redactor.ts'
import { matchesBranch } from '@millrace/engine/branches.ts'
import { compileRegex, createSearchBudget, searchRegex } from '@millrace/engine/conditions/regex.ts'
import { matchesGlob } from '@millrace/engine/globs.ts'
import { readPipeline } from '@millrace/engine/steps/document.ts'
import { parseSource } from '@millrace/engine/yaml.ts'
import { refuseDockerfile } from '@millrace/server/resources/clusters/agent-images/rules.ts'
import type { Report } from '../harness/report.ts'

const megabyte = 1024 * 1024
const rounds = 5
/** Four times the text may take so many times as long. */
const mostGrowth = 12
/** Shorter times are rounding and compilation. */
const leastMs = 5

interface Case {
  what: string
  /** Prepares the text, where `share` is 1 or a part of it, and returns the work to measure. */
  prepare(share: number): () => unknown
}

export async function benchHostileText(): Promise<Report> {
  const rows: Report['rows'] = []
  const targets: Report['targets'] = []
  for (const { what, prepare } of cases) {
    const [quarter, full] = [best(prepare(0.25)), best(prepare(1))]
    const growth = full / Math.max(quarter, leastMs)
    rows.push({ what, 'quarter ms': Math.round(quarter), 'full ms': Math.round(full) })
    targets.push({
      what,
      target: `≤ ${mostGrowth}× the processor time for 4× the text`,
      measured: `${growth.toFixed(1)}×`,
      met: growth <= mostGrowth,
    })
  }
  return { name: 'hostile-text', rows, targets }
}

/** Processor time, which other processes on a busy machine hardly lengthen. */
function best(work: () => unknown): number {
  const times = Array.from({ length: rounds }, () => {
    const start = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(start)
    return (user + system) / 1000
  })
  return Math.min(...times)
}

const repeat = (piece: string, count: number) => piece.repeat(Math.max(1, Math.floor(count)))

const searching = (source: string, text: (share: number) => string): Case => ({
  what: `condition /${source}/`,
  prepare(share) {
    const compiled = compileRegex(source, { ignoreCase: false })
    if (!compiled.ok) throw new Error(compiled.message)
    const written = text(share)
    return () => searchRegex(compiled.regex, written, createSearchBudget())
  },
})

const matching = (what: string, matches: (text: string) => boolean, length: number, end: string): Case => ({
  what,
  prepare(share) {
    const text = `${repeat('a', length * share)}${end}`
    return () => matches(text)
  },
})

const yaml = (what: string, piece: string): Case => ({
  what: `YAML of ${what}`,
  prepare(share) {
    const text = repeat(piece, (megabyte * share) / piece.length)
    return () => parseSource(text, megabyte)
  },
})

const pipeline = (what: string, write: (share: number) => string): Case => ({
  what: `pipeline of ${what}`,
  prepare(share) {
    const text = write(share)
    const options = { origin: 'upload', maxBytes: 4 * megabyte, interpolateWith: () => undefined } as const
    return () => readPipeline(text, options)
  },
})

const dockerfile = (what: string, write: (share: number) => string): Case => ({
  what: `Dockerfile of ${what}`,
  prepare(share) {
    const text = write(share)
    return () => refuseDockerfile(text)
  },
})

const needle = Buffer.from(`${'a'.repeat(64 * 1024)}b`)
const others = Array.from({ length: 500 }, (_, n) => Buffer.from(`${'a'.repeat(300 + n)}c`))

const cases: Case[] = [
  searching('^(a+)+$', (share) => `${repeat('a', 50_000 * share)}b`),
  searching('(x+x+)+y', (share) => repeat('x', 20_000 * share)),
  searching('^(a|a)*$', (share) => `${repeat('a', 20_000 * share)}b`),
  matching(
    'branch pattern full of stars',
    (text) => matchesBranch(`${'*a'.repeat(2000)}b`, text),
    20_000,
    '',
  ),
  matching('glob full of stars', (text) => matchesGlob('**a'.repeat(60), text), 8000, 'b'),
  matching('glob full of braces', (text) => matchesGlob('**{a,a}'.repeat(60), text), 8000, 'b'),
  yaml('[', '['),
  yaml('dashes', '- '),
  yaml('keys on one line', 'a: '),
  yaml('open and closed brackets', '[]'),
  yaml('list items', '- a\n'),
  yaml('anchors', '&a '),
  yaml('quotes', '"'),
  yaml('documents', 'a\n---\n'),
  yaml('comments', '#\n'),
  yaml('colons', ':\n'),
  pipeline('unknown attributes', (share) => {
    const names = Array.from({ length: 40_000 * share }, (_, n) => `commend${n}: 1`)
    return `[{command: a, ${names.join()}}]`
  }),
  pipeline('steps', (share) => `[${repeat('wait,', 60_000 * share)}]`),
  pipeline('conditions', (share) => {
    const step = `{wait: ~, if: "${'build.tag=~/.{999}/||'.repeat(400)}true"},`
    return `[${repeat(step, 120 * share)}]`
  }),
  pipeline('substrings of a long variable', (share) => {
    const steps = repeat('${X:0:1}', 50_000 * share)
    return `{env: {X: "${repeat('x', 500_000 * share)}"}, steps: ["${steps}"]}`
  }),
  pipeline(
    'notifications',
    (share) => `{notify: [${repeat('{slack: x, if: "build.tag=~/.{9}/"},', 20_000 * share)}]}`,
  ),
  // Larger than the server allows: below a megabyte the memory for one long text decides, not its reading.
  pipeline('long names', (share) => `{steps: [{command: a, "${repeat('x', 3_600_000 * share)}": 1}]}`),
  ...['a\\\n', '\\\n', '<<A ', 'RUN <<A\n', ' ', '#\n', "'\n"].map((line) =>
    dockerfile(JSON.stringify(line), (share) => repeat(line, (20_000 * share) / line.length)),
  ),
  dockerfile('white space in a line', (share) => `RUN a${repeat(' ', 99_000 * share)}b`),
  {
    what: 'log of what looks like a secret',
    prepare(share) {
      const part = Buffer.alloc(4096, 'a')
      return () => {
        const redactor = createRedactor()
        redactor.add([needle, ...others])
        for (let count = 0; count < 1024 * share; count += 1) redactor.push(part)
        redactor.end()
      }
    },
  },
]
