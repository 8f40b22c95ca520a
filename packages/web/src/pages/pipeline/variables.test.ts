import { expect, it } from 'vitest'
import { readVariables } from './variables.ts'

it('reads one variable a line, with everything behind the first equals sign', () => {
  expect(readVariables('A=1\n\n  B_2=x=y \n')).toEqual({ ok: true, values: { A: '1', B_2: 'x=y ' } })
})

it('names the line that is no variable', () => {
  expect(readVariables('A=1\nnothing')).toEqual({
    ok: false,
    problem: 'Line 2 is not of the form NAME=value.',
  })
})
