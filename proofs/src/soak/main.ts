// `npm run soak`: runs builds on many agents while agents and the server are killed, then checks the result. The seed
// determines the actions and their times, but not how the processes interleave.
import { parseArgs } from 'node:util'
import { exitAfterOutput } from '../exit.ts'
import { soak, type Plan } from './soak.ts'

const usual: Plan = {
  seed: Math.floor(Math.random() * 2 ** 31),
  seconds: 300,
  jobs: 2000,
  agents: 50,
  kills: 20,
  restarts: 5,
}

const { plan, data } = readArguments()
console.log(`Seed ${plan.seed}: ${JSON.stringify(plan)}`)
const outcome = await soak(plan, data)
console.log(JSON.stringify(outcome, null, 2))
console.log(
  outcome.violations.length === 0
    ? 'Everything that was acknowledged is there, and every build has ended.'
    : `${outcome.violations.length} violations. Run it again with --seed ${plan.seed}.`,
)
exitAfterOutput(outcome.violations.length === 0 ? 0 : 1)

function readArguments(): { plan: Plan; data: string | null } {
  const names = Object.keys(usual)
  const { values } = parseArgs({
    options: Object.fromEntries([...names, 'data'].map((name) => [name, { type: 'string' as const }])),
  })
  const given = names.flatMap((name) =>
    values[name] === undefined ? [] : [[name, Number(values[name])] as const],
  )
  const bad = given.find(([, value]) => !Number.isInteger(value) || value < 0)
  if (bad !== undefined) {
    console.error(`--${bad[0]} must be a whole number.`)
    process.exit(2)
  }
  return { plan: { ...usual, ...Object.fromEntries(given) }, data: values['data'] ?? null }
}
