import { describe, expect, it } from 'vitest'
import { requiredTexts } from './literals.ts'

const ofRegex = (text: string) => requiredTexts({ text, isRegex: true, isCaseSensitive: true })

describe('what a log must contain', () => {
  it('is the text itself, in lower case, without what is not of ASCII', () => {
    const text = 'Cannot find Straße 7'
    expect(requiredTexts({ text, isRegex: false, isCaseSensitive: false })).toEqual([
      'cannot find stra',
      'e 7',
    ])
  })

  it.each([
    ['ECONN\\w+ at port 5432', ['econn', ' at port 5432']],
    ['colou?rs', ['colo', 'rs']],
    ['a+b', ['a', 'b']],
    ['go{2,3}gle', ['g', 'gle']],
    ['x{y', ['y']],
    ['[Ee]rror\\.log', ['rror.log']],
    ['[]ab]c[^]d]e', ['c', 'e']],
    ['[[:alpha:]x]end', ['end']],
    ['(optional)*sure(this|that)', ['sure']],
    ['(?:one|two) three', [' three']],
    ['one|two', []],
    ['(?i)NAME', []],
    ['\\x41bc', []],
    ['\\Qa.b\\E', []],
    ['\\pLetter', []],
    ['', []],
  ])('of %s is %j', (source, expected) => {
    expect(ofRegex(source)).toEqual(expected)
  })
})
