import { describe, expect, it } from 'vitest'
import type { Group } from './groups.ts'
import { OpenGroups } from './open-groups.ts'
import { readRow } from './rows.ts'

const group = (row: number, kind: Group['kind'] = '---'): Group => ({
  kind,
  name: `at ${row}`,
  row,
  time: null,
  durationMs: null,
})
const rows = (...texts: string[]) => texts.map((text) => readRow([null, text]))
const openRows = (groups: OpenGroups, total: number) => {
  const folding = groups.fold(total)
  return folding.groups.filter((_, index) => folding.isOpen(index)).map(({ row }) => row)
}

describe('OpenGroups', () => {
  it('first opens marked groups, the failing one and the last', () => {
    const groups = new OpenGroups()
    groups.setAll([group(1), group(10, '+++'), group(20), group(30), group(40)])
    groups.openFirst(25)
    expect(openRows(groups, 50)).toEqual([10, 20, 40])
  })

  it('opens groups as they come, and keeps what the reader closed', () => {
    const groups = new OpenGroups()
    groups.replaceFrom(1, rows('--- One', 'a', '--- Two', 'b'))
    groups.setOpen([1], false)
    groups.replaceFrom(1, rows('--- One', 'a', '--- Two', 'b', '~~~ Three'))
    expect(openRows(groups, 5)).toEqual([3, 5])
  })

  it('opens a closed group when a row of it says so', () => {
    const groups = new OpenGroups()
    groups.replaceFrom(1, rows('--- One', 'a'))
    groups.setOpen([1], false)
    groups.replaceFrom(3, rows('^^^ +++'))
    expect(openRows(groups, 3)).toEqual([1])
  })
})
