// The finder on logs of real tools, each run on a small broken project by our agent. cases.json has for each log the row that
// a person would point at, and the rows that would do as well. The logs marked `held_out` were made after the finder, and it
// was measured on them before it was changed for any of them.
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { summarize } from '../rows/outline.ts'
import { Replay, type ReplayState } from '../rows/replay.ts'
import { textOf } from '../screen/row.ts'
import { chooseRows, rowsAround } from './excerpt.ts'

interface Case {
  log: string
  tool: string
  held_out: boolean
  row: number
  text: string
  accepted: number[]
}

const folder = new URL('../../../../../test/failing-lines/', import.meta.url)
const cases = JSON.parse(await readFile(new URL('cases.json', folder), 'utf8')) as Case[]

async function readLog(name: string): Promise<Buffer> {
  const bytes = await readFile(new URL(name, folder))
  return name.endsWith('.gz') ? promisify(gunzip)(bytes) : bytes
}

/** Reads the log in pieces, as threads do. */
function outlineOf(bytes: Buffer, pieceBytes: number) {
  const rows: string[] = []
  const groups: Array<{ kind: string; name: string; row: number; time: number | null }> = []
  for (let state: ReplayState | null = null; ;) {
    const offset: number = state?.offset ?? 0
    const replay: Replay = new Replay(state, (row) => rows.push(textOf(row)))
    const isLast = bytes.length - offset <= pieceBytes
    replay.write(bytes.subarray(offset, offset + pieceBytes), isLast)
    state = replay.state
    if (isLast) {
      rows.push(...replay.open.map(textOf))
      const last = replay.outlineAtEnd
      return { rows, ...summarize([...groups, ...last.groups], last.end) }
    }
    groups.push(...replay.outline.groups)
  }
}

const found = await Promise.all(
  cases.map(async (one) => {
    const bytes = await readLog(one.log)
    const { rows, groups, failingRow } = outlineOf(bytes, bytes.length)
    const known = { groups, failingRow, first: 1, total: rows.length }
    const shown = (from: number, to: number) =>
      [one.row, ...one.accepted].some((row) => row >= from && row <= to)
    const short = rowsAround({ ...known, failingRow: failingRow ?? 1 }, 24)
    return {
      ...one,
      bytes,
      rows,
      failingRow,
      isRight: failingRow !== null && [one.row, ...one.accepted].includes(failingRow),
      isShown: chooseRows(known, 50).ranges.some(([from, to]) => shown(from, to)),
      isShownShort: shown(short.from, short.to),
    }
  }),
)

const describeMiss = ({ log, rows, failingRow, text }: (typeof found)[number]) =>
  `${log}: row ${failingRow} "${rows[(failingRow ?? 0) - 1] ?? ''}" instead of "${text}"`

describe('the corpus', () => {
  it('has at least 60 logs of at least 20 tools, a third of them held out, and its rows are those of the logs', () => {
    expect(cases.length).toBeGreaterThanOrEqual(60)
    expect(new Set(cases.map(({ tool }) => tool)).size).toBeGreaterThanOrEqual(20)
    expect(cases.filter(({ held_out }) => held_out).length).toBeGreaterThanOrEqual(cases.length / 3)
    expect(
      found.filter(({ rows, row, text }) => rows[row - 1]?.trim() !== text).map(({ log }) => log),
    ).toEqual([])
  })
})

describe('the failing row', () => {
  it.each([false, true])(
    'is one that a person would point at in 90 of 100 logs, held out: %s',
    (isHeldOut) => {
      const asked = found.filter(({ held_out }) => held_out === isHeldOut)
      const misses = asked.filter(({ isRight }) => !isRight).map(describeMiss)
      expect(misses.length > asked.length * 0.1 ? misses : []).toEqual([])
    },
  )

  it('is within the shown rows in 98 of 100 logs, also where few rows are shown', () => {
    for (const isShown of ['isShown', 'isShownShort'] as const) {
      const misses = found.filter((one) => !one[isShown]).map(describeMiss)
      expect(misses.length > found.length * 0.02 ? misses : []).toEqual([])
    }
  })

  it('is the same wherever the log is cut into pieces', () => {
    for (const { log, bytes, failingRow } of found) {
      if (bytes.length > 20_000) continue
      for (const pieceBytes of [97, 1000])
        expect([log, outlineOf(bytes, pieceBytes).failingRow]).toEqual([log, failingRow])
    }
  })
})
