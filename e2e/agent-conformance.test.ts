// The agent protocol from end to end, with our runner and, if there is one, with the public agent.
// `npm run conformance:agent` runs this file alone.
import { afterAll, beforeAll, it } from 'vitest'
import { needing } from '../testbed/src/needing.ts'
import { Bench, type Mode } from './conformance/bench.ts'
import { cases, loseAgents, loseEveryAnswer, surviveCrash } from './conformance/cases.ts'
import { signedCases } from './conformance/signed-cases.ts'
import { ownRunner, publicAgent, publicAgentLacks, type AgentProgram } from './conformance/programs.ts'
import { Site, type SiteSettings } from './conformance/site.ts'

const found = publicAgent()
const programs = found === null ? [ownRunner] : [ownRunner, found]
const modes: readonly Mode[] = ['polling', 'streaming']

let site: Site | undefined
const benches = new Map<string, Bench>()

beforeAll(async () => {
  site = await Site.start()
  for (const program of programs)
    for (const mode of modes)
      benches.set(`${program.title}, ${mode}`, await Bench.open(site, program, mode, otherThan(program)))
})

afterAll(async () => {
  await Promise.all([...benches.values()].map((bench) => bench.close()))
  await site?.close()
})

it.concurrent(`${ownRunner.title}: takes the next job after no answer to accept arrives`, async ({
  expect,
}) => {
  await expect(withOwnSite(ownRunner, { lostSeconds: 30 }, loseEveryAnswer)).resolves.toBeUndefined()
})

if (found === null) needing('public-agent', publicAgentLacks).it('the public agent: all cases', () => {})

for (const program of programs) {
  it.concurrent(`${program.title}: the server is killed and started again during jobs`, async ({
    expect,
  }) => {
    await expect(withOwnSite(program, {}, surviveCrash)).resolves.toBeUndefined()
  })

  it.concurrent(`${program.title}: an agent that is killed is lost`, async ({ expect }) => {
    await expect(withOwnSite(program, { lostSeconds: 30 }, loseAgents)).resolves.toBeUndefined()
  })

  // Both modes at once, so that no shared agents are idle.
  for (const { name, run } of [...cases, ...signedCases]) {
    for (const mode of modes) {
      it.concurrent(`${program.title}, ${mode}: ${name}`, async ({ expect }) => {
        const bench = benches.get(`${program.title}, ${mode}`)
        if (bench === undefined) throw new Error('The shared agents did not start.')
        await expect(run(bench)).resolves.toBeUndefined()
      })
    }
  }
}

/** The other program signs the steps that this one verifies. */
function otherThan(program: AgentProgram): AgentProgram {
  return programs.find((other) => other !== program) ?? program
}

/** Runs both modes at once. */
async function withOwnSite(
  program: AgentProgram,
  settings: SiteSettings,
  work: (site: Site, own: readonly Bench[]) => Promise<void>,
): Promise<void> {
  const own = await Site.start(settings)
  const ownBenches: Bench[] = []
  try {
    for (const mode of modes) ownBenches.push(await Bench.open(own, program, mode))
    await work(own, ownBenches)
  } finally {
    await Promise.all(ownBenches.map((bench) => bench.close()))
    await own.close()
  }
}
