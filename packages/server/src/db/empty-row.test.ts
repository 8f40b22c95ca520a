import { expect, it } from 'vitest'
import { useApp } from '../../test/app.ts'
import { emptyRow } from './empty-row.ts'

const app = useApp()

it('has every field, in its order, and nothing in them', () => {
  expect(Object.entries(emptyRow(['b', 'a', 'step.id']))).toEqual([
    ['b', null],
    ['a', null],
    ['step.id', null],
  ])
})

it('makes rows of many columns, null or not, each its own', async () => {
  const numbers = Array.from({ length: 120 }, (_, index) => index)
  const columns = numbers.map((n) => `case when g <> ${n} then g + ${n} end as c${n}`).join(', ')
  const { rows } = await app.database.pool.query(`select ${columns} from generate_series(0, $1::int) g`, [2])
  expect(rows).toEqual(
    [0, 1, 2].map((g) => Object.fromEntries(numbers.map((n) => [`c${n}`, g === n ? null : g + n]))),
  )
})
