// The agent protocol from end to end: always with our own runner, and with the public agent where there is one.
// `npm run conformance:agent` runs this file alone.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Bench, type Mode } from './conformance/bench.ts'
import { cases, surviveCrash } from './conformance/cases.ts'
import { ownRunner, publicAgent } from './conformance/programs.ts'
import { Site } from './conformance/site.ts'

const found = publicAgent()
const programs = found === null ? [ownRunner] : [ownRunner, found]
const modes: readonly Mode[] = ['polling', 'streaming']

let site: Site | undefined
const benches = new Map<string, Bench>()

beforeAll(async () => {
  site = await Site.start()
  for (const program of programs)
    for (const mode of modes) benches.set(`${program.title}, ${mode}`, await Bench.open(site, program, mode))
}, 120_000)

afterAll(async () => {
  await Promise.all([...benches.values()].map((bench) => bench.close()))
  await site?.close()
})

for (const program of programs) {
  it.concurrent(`${program.title}: the server is killed and started again during jobs`, async () => {
    const shaken = await Site.start()
    const own: Bench[] = []
    try {
      for (const mode of modes) own.push(await Bench.open(shaken, program, mode))
      await expect(surviveCrash(shaken, own)).resolves.toBeUndefined()
    } finally {
      await Promise.all(own.map((bench) => bench.close()))
      await shaken.close()
    }
  })

  for (const mode of modes) {
    for (const { name, run } of cases) {
      it.concurrent(`${program.title}, ${mode}: ${name}`, async () => {
        const bench = benches.get(`${program.title}, ${mode}`)
        if (bench === undefined) throw new Error('The shared agents did not start.')
        await expect(run(bench)).resolves.toBeUndefined()
      })
    }
  }
}
