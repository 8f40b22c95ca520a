import { describe, expect, it } from 'vitest'
import { Blocks, blockRows } from './blocks.ts'
import { readRow } from './rows.ts'

const rowsFrom = (from: number, count: number, prefix = 'row') =>
  Array.from({ length: count }, (_, at) => readRow([null, `${prefix} ${from + at}`]))

function aLog(total: number) {
  const asked: Array<[number, number]> = []
  const answers: Array<() => void> = []
  const blocks = new Blocks(
    (from, limit) => {
      asked.push([from, limit])
      return new Promise((resolve) =>
        answers.push(() => resolve({ from, rows: rowsFrom(from, Math.min(limit, total - from + 1)) })),
      )
    },
    () => undefined,
  )
  blocks.setTotal(total)
  const answer = async () => {
    for (const one of answers.splice(0)) one()
    await Promise.resolve()
    await Promise.resolve()
  }
  return { blocks, asked, answer }
}

describe('Blocks', () => {
  it('fetches a block once, however often it is wanted', async () => {
    const { blocks, asked, answer } = aLog(3_000_000)
    blocks.want(600, 700)
    blocks.want(610, 1100)
    expect(asked).toEqual([
      [513, 512],
      [1025, 512],
    ])
    await answer()
    expect(blocks.row(700)?.text).toBe('row 700')
    blocks.want(600, 1100)
    expect(asked).toHaveLength(2)
  })

  it('keeps the 40 blocks used last', async () => {
    const { blocks, answer } = aLog(100_000)
    for (let block = 0; block < 50; block++) blocks.want(block * blockRows + 1, block * blockRows + 2)
    await answer()
    expect([...blocks.loaded()]).toHaveLength(40 * blockRows)
    expect(blocks.row(1)).toBeUndefined()
    expect(blocks.row(50 * blockRows)?.text).toBe(`row ${50 * blockRows}`)
  })

  it('replaces rows from a number on, across blocks', () => {
    const { blocks } = aLog(0)
    blocks.replaceFrom(1, rowsFrom(1, 600))
    blocks.replaceFrom(500, rowsFrom(500, 20, 'new'))
    expect(blocks.total).toBe(519)
    expect(blocks.row(499)?.text).toBe('row 499')
    expect(blocks.row(500)?.text).toBe('new 500')
    expect(blocks.row(519)?.text).toBe('new 519')
    expect(blocks.row(520)).toBeUndefined()
    expect(blocks.row(600)).toBeUndefined()
  })

  it('prefers what a stream wrote to an older answer', async () => {
    const { blocks, answer } = aLog(510)
    blocks.want(400, 510)
    blocks.replaceFrom(500, rowsFrom(500, 30, 'new'))
    await answer()
    expect(blocks.row(450)?.text).toBe('row 450')
    expect(blocks.row(505)?.text).toBe('new 505')
    expect(blocks.total).toBe(529)
  })

  it('fetches only the missing rows of a block that a stream wrote the end of', () => {
    const { blocks, asked } = aLog(1000)
    blocks.replaceFrom(901, rowsFrom(901, 100))
    blocks.want(950, 1000)
    expect(asked).toEqual([[513, 512]])
  })
})
