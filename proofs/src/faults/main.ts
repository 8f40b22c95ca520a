// `npm run faults`: breaks an installation of several processes under load, in an order of the seed, measures how soon builds
// start again, and checks that nothing acknowledged is lost. The seed determines the faults and the load, but not how
// processes interleave.
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { exitAfterOutput } from '../exit.ts'
import { diskFaults, faults } from './faults.ts'
import {
  formatted,
  mergeResults,
  namesOf,
  runAlone,
  runReplicas,
  type Measured,
  type RunResult,
} from './run.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seconds: { type: 'string' },
    only: { type: 'string' },
    rate: { type: 'string' },
    ledger: { type: 'string' },
    'no-aims': { type: 'boolean' },
  },
})
const seed = wholeNumber('seed') ?? Math.floor(Math.random() * 2 ** 31)
const isChosen = readNames(values.only)
const chosen = faults.filter(isChosen)
const chosenOfDisks = diskFaults.filter(isChosen)
const hasAims = values['no-aims'] !== true
console.log(`Seed ${seed}: ${namesOf([...chosen, ...chosenOfDisks])}`)
const pace = {
  seed,
  seconds: wholeNumber('seconds'),
  buildsPerMinute: wholeNumber('rate') ?? 40,
  settleMs: hasAims ? 4000 : 1000,
}
const replicas = { apis: 2, workers: 2, simulatedAgents: 16, runners: 2 }
const results: RunResult[] = []
if (chosen.length > 0) results.push(await runReplicas(replicas, { ...pace, faults: chosen }, console.log))
if (chosenOfDisks.length > 0) results.push(await runAlone({ ...pace, faults: chosenOfDisks }, console.log))
const { measured, violations, counts, ledger } = mergeResults(results)
if (values.ledger !== undefined) {
  writeFileSync(values.ledger, ledger.map((entry) => `${JSON.stringify(entry)}\n`).join(''))
}
console.log(table(measured))
console.log(JSON.stringify(counts, null, 2))
const late = hasAims ? measured.filter(isLate) : []
for (const { fault, recoveryMs } of late)
  violations.push(`After ${fault.name} a build started after ${formatted(recoveryMs)}: longer than the aim.`)
for (const violation of violations.slice(0, 50)) console.log(violation)
console.log(
  violations.length === 0
    ? 'Everything that was acknowledged is there exactly once, and every build has ended.'
    : `${violations.length} violations. Run it again with --seed ${seed}.`,
)
exitAfterOutput(violations.length === 0 ? 0 : 1)

function wholeNumber(name: 'seed' | 'seconds' | 'rate'): number | null {
  const given = values[name]
  if (given === undefined) return null
  if (!/^\d{1,9}$/.test(given)) refuse(`--${name} must be a whole number.`)
  return Number(given)
}

function readNames(given: string | undefined): (fault: { name: string }) => boolean {
  if (given === undefined) return () => true
  const known = [...faults, ...diskFaults]
  const names = given.split(',')
  const unknown = names.find((name) => !known.some((fault) => fault.name === name))
  if (unknown !== undefined) refuse(`There is no fault "${unknown}". Choose from ${namesOf(known)}.`)
  return ({ name }) => names.includes(name)
}

function refuse(problem: string): never {
  console.error(problem)
  process.exit(2)
}

function isLate({ fault, recoveryMs }: Measured): boolean {
  return fault.aimMs !== null && (recoveryMs ?? Infinity) > fault.aimMs
}

function table(rows: readonly Measured[]): string {
  const lines = rows.map(({ fault, recoveryMs, lastFailureMs }) => {
    const aim = fault.aimMs === null ? '' : `${fault.aimMs / 1000} s`
    return `| ${fault.name} | ${formatted(recoveryMs)} | ${aim} | ${formatted(lastFailureMs)} |`
  })
  return ['| Fault | Recovery | Aim | Last failed request |', '|---|---|---|---|', ...lines].join('\n')
}
