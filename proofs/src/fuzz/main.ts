// `npm run fuzz`: sends generated and mutated requests to every operation, and exits with 1 if an answer is wrong. The seed
// and the number determine a request; the ids in it are those of the run.
import { parseArgs } from 'node:util'
import { exitAfterOutput } from '../exit.ts'
import { fuzz } from './fuzz.ts'
import type { Finding, Plan } from './run.ts'

const plan = readArguments()
console.log(`Seed ${plan.seed}: ${JSON.stringify(plan)}`)
const started = Date.now()
const stopping = new AbortController()
process.once('SIGINT', () => stopping.abort())
process.once('SIGTERM', () => stopping.abort())
const { findings, coverage, notes } = await fuzz(plan, (line) => console.log(line), stopping.signal)
for (const line of coverage.lines()) console.log(line)
console.log(`All: ${coverage.total()}`)
for (const note of notes) console.log(note)
for (const group of grouped(findings)) console.log(describe(group))
const never = coverage.neverSucceeded()
const isWhole = plan.first === 0 && plan.only === null
if (isWhole) for (const line of never) console.log(line)
const seconds = Math.round((Date.now() - started) / 1000)
const isGood = findings.length === 0 && !(isWhole && never.length > 0)
console.log(
  isGood
    ? `${coverage.requests} requests in ${seconds} s: every answer is as documented.`
    : `${coverage.requests} requests in ${seconds} s: ${findings.length} findings. Repeat one with --seed ${plan.seed}${plan.only === null ? '' : ` --only '${plan.only}'`} --first NUMBER --requests 1 --keep.`,
)
exitAfterOutput(isGood ? 0 : 1)

/** The findings of the same operation and kind. */
function grouped(all: readonly Finding[]): Finding[][] {
  const groups = new Map<string, Finding[]>()
  for (const finding of all) {
    const key = `${finding.operation} ${finding.problem.slice(0, 60)}`
    groups.set(key, [...(groups.get(key) ?? []), finding])
  }
  return [...groups.values()]
}

function describe([first, ...more]: Finding[]): string {
  if (first === undefined) return ''
  const { number, operation, problem, changes, curl } = first
  return [
    `\nFINDING seed ${plan.seed}${number === null ? '' : ` number ${number}`} ${operation}`,
    `  ${problem}`,
    ...(changes.length > 0 ? [`  Changed: ${changes.join('; ')}`] : []),
    ...(curl === '' ? [] : [`  ${curl}`]),
    ...(more.length > 0
      ? [
          `  And ${more.length} more: ${more
            .slice(0, 5)
            .map((other) => other.number)
            .join(', ')}`,
        ]
      : []),
  ].join('\n')
}

function readArguments(): Plan {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string' },
      requests: { type: 'string' },
      first: { type: 'string' },
      concurrency: { type: 'string' },
      only: { type: 'string' },
      keep: { type: 'boolean' },
    },
  })
  const number = (name: 'seed' | 'requests' | 'first' | 'concurrency', usual: number) => {
    const value = Number(values[name] ?? usual)
    if (Number.isInteger(value) && value >= 0) return value
    console.error(`--${name} must be a whole number.`)
    process.exit(2)
  }
  return {
    seed: number('seed', Math.floor(Math.random() * 2 ** 31)),
    requests: number('requests', 100_000),
    first: number('first', 0),
    concurrency: number('concurrency', 12),
    only: values.only ?? null,
    keep: values.keep ?? false,
  }
}
