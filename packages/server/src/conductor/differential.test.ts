// The engine is proven in memory; here the tables are proven to be the same memory. Random builds with random
// histories are kept twice, and after every event each row of one must equal the row of the other.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { documentOf, sketches } from '../../../engine/test/random-documents.ts'
import { moves } from '../../../engine/test/random-events.ts'
import { useApp } from '../../test/app.ts'
import { startDualBuild } from '../../test/dual-build/dual-build.ts'

const app = useApp()

describe('the tables', () => {
  it('equal the rows of the engine in memory after every event', async () => {
    await fc.assert(
      fc.asyncProperty(sketches, moves, async (sketched, history) => {
        const { dual, inTables, inMemory } = await startDualBuild(app, documentOf(sketched, 's', []))
        expect(inTables).toEqual(inMemory)
        if (dual === null) return
        for (const move of history.slice(0, 30)) {
          const result = await dual.apply(move)
          expect(result.inTables).toEqual(result.inMemory)
        }
        const tallies = await dual.tallies()
        expect(tallies.kept).toEqual(tallies.counted)
      }),
      { seed: 7, numRuns: 10, endOnFailure: true },
    )
  })
})
