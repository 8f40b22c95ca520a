import { describe, expect, it } from 'vitest'
import { lineOf, linesOf, valueOf, variablesOf } from './mapped-values.ts'

describe('a value of a trigger', () => {
  it.each([
    ['', '', null],
    ['main', 'ignored', { text: 'main' }],
    ['/ref', '', { pointer: '/ref' }],
    ['/ref', 'main', { pointer: '/ref', default: 'main' }],
  ])('%j with %j', (line, fallback, value) => {
    expect(valueOf(line, fallback)).toEqual(value)
    expect(lineOf(value)).toBe(line)
  })

  it('keeps the defaults of variables that stay as they are', () => {
    const before = { A: { pointer: '/a', default: 'x' }, B: { text: 'b' }, C: { text: '/path' } }
    expect(linesOf(before)).toBe('A=/a\nB=b\nC=/path')
    expect(variablesOf({ A: '/a', B: '/b', C: '/path', D: 'd', E: '' }, before)).toEqual({
      A: { pointer: '/a', default: 'x' },
      B: { pointer: '/b' },
      C: { text: '/path' },
      D: { text: 'd' },
      E: { text: '' },
    })
  })
})
