import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { useApp } from '../../../../test/app.ts'
import { aRunningJob, compactLogs, endLongAgo, sendChunk } from '../../../../test/job-runs.ts'
import { cut, planLog, type Piece, type StoredChunk } from './plan.ts'

const app = useApp()

/** Chunks of `length` bytes: cut anywhere, some parts repeated with other numbers and bounds, in any order. */
const sendings = (length: number) =>
  fc
    .tuple(
      fc.uniqueArray(fc.integer({ min: 1, max: length - 1 }), { maxLength: 6 }),
      fc.array(fc.tuple(fc.integer({ min: 0, max: length - 1 }), fc.integer({ min: 1, max: length })), {
        maxLength: 4,
      }),
    )
    .map(([cuts, overlaps]) => {
      const bounds = [0, ...cuts.sort((a, b) => a - b), length]
      const parts = bounds.slice(1).map((end, index) => [bounds[index] ?? 0, end] as const)
      const again = overlaps.map(([start, size]) => [start, Math.min(start + size, length)] as const)
      return [...parts, ...again].map(([start, end], index) => ({
        sequence: index + 1,
        byte_offset: start,
        size: end - start,
      }))
    })
    .chain((chunks) => fc.shuffledSubarray(chunks, { minLength: chunks.length }))

const source = Buffer.from(Array.from({ length: 40 }, (_, index) => 33 + index))
const assemble = (pieces: readonly Piece[], chunks: readonly StoredChunk[]) =>
  Buffer.concat(
    pieces.map((piece) => {
      if (piece.kind === 'note') return piece.bytes
      const chunk = chunks.find(({ sequence }) => sequence === piece.sequence)
      return source.subarray((chunk?.byte_offset ?? 0) + piece.from, (chunk?.byte_offset ?? 0) + piece.to)
    }),
  )
const whole = { from: 0, isFinal: true, isTruncated: false, isAgentLost: false, limitBytes: 1000 }

describe('planLog', () => {
  it('gives every byte once, however the chunks were cut, repeated and ordered', () => {
    fc.assert(
      fc.property(sendings(source.length), (chunks) => {
        const { pieces, size } = planLog(chunks, whole)
        expect(size).toBe(source.length)
        expect(assemble(pieces, chunks).equals(source)).toBe(true)
      }),
    )
  })

  it('never changes the beginning of a growing log, whatever chunks arrive', () => {
    fc.assert(
      fc.property(sendings(source.length), fc.nat(12), fc.nat(40), (chunks, count, from) => {
        const come = chunks.slice(0, count)
        const { pieces, size } = planLog(come, { ...whole, isFinal: false })
        expect(assemble(pieces, come).equals(source.subarray(0, size))).toBe(true)
        if (from > size) return
        const rest = planLog(come, { ...whole, isFinal: false, from })
        expect(assemble(rest.pieces, come).equals(source.subarray(from, size))).toBe(true)
      }),
    )
  })

  it('returns exactly the requested bytes', () => {
    fc.assert(
      fc.property(sendings(source.length), fc.nat(40), fc.nat(40), (chunks, one, other) => {
        const [start, end] = [Math.min(one, other), Math.max(one, other)]
        const { pieces } = planLog(chunks, whole)
        expect(assemble(cut(pieces, start, end), chunks).equals(source.subarray(start, end))).toBe(true)
      }),
    )
  })
})

describe('a log over HTTP', () => {
  it('has every byte once, however often and in whatever order chunks arrive', async () => {
    const scenario = fc.sample(sendings(source.length), { numRuns: 8, seed: 42 })
    for (const chunks of scenario) {
      const { run, long, admin } = await aRunningJob(app)
      const sent = [...chunks, ...chunks.toReversed()].map(({ sequence, byte_offset, size }) =>
        sendChunk(app, run, {
          sequence,
          offset: byte_offset,
          text: source.subarray(byte_offset, byte_offset + size),
        }),
      )
      expect(new Set((await Promise.all(sent)).map(({ status }) => status))).toEqual(new Set([200]))
      const read = () =>
        app.request('GET', `${long}/log`, { token: admin.token, headers: { Accept: 'text/plain' } })
      expect((await read()).text).toBe(source.toString())
      await endLongAgo(app, run)
      await compactLogs(app.ctx)
      expect((await read()).text).toBe(source.toString())
    }
  })
})
