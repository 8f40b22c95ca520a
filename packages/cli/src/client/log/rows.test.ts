import { describe, expect, it } from 'vitest'
import { TinyTerminal } from '../../../test/tiny-terminal.ts'
import { GrowingLog, linesOutput, terminalOutput } from './follow-log.ts'
import { plainRow, styledRow, textOfRow, type Row } from '../log-rows.ts'

describe('a row of a log', () => {
  it('keeps its colors in a terminal, and only its text in a pipe', () => {
    const row: Row = [
      1,
      'plain ',
      ['red', 'fg1 bold'],
      ['deep', 'fg12 bg#0a141e'],
      ['link', '', 'https://example.com'],
    ]
    expect(textOfRow(row)).toBe('plain reddeeplink')
    expect(styledRow(row)).toBe('plain \u001b[31;1mred\u001b[0m\u001b[94;48;2;10;20;30mdeep\u001b[0mlink')
  })

  it('has emoji in the name of a group for people, and as it was typed for programs', () => {
    const row: Row = [null, '--- :jest: ', ['Tests', 'fg1']]
    expect([plainRow(row), textOfRow(row)]).toEqual(['--- 🃏 Tests', '--- :jest: Tests'])
    expect(plainRow([null, 'prints :jest:'])).toBe('prints :jest:')
  })

  it('lets neither text nor style control the terminal', () => {
    const row: Row = [null, '\u001b[2J\u0007', ['x\r\n', 'fg1;2J 0m\u001b[H fg99 bg#zzzzzz'], 7, [null]]
    expect(textOfRow(row)).toBe('␛[2J␇x␊')
    expect(styledRow(row)).toBe('␛[2J␇x␊')
  })
})

const rows = (...texts: string[]): Row[] => texts.map((text) => [null, text])

describe('a log that grows', () => {
  it('is printed row by row into a pipe, each once, the last when the log ends', () => {
    const printed: string[] = []
    const log = new GrowingLog(linesOutput((row) => void printed.push(textOfRow(row))))
    log.set(1, rows('a', 'b', '10 %'))
    expect(printed).toEqual(['a', 'b'])
    log.set(3, rows('90 %'))
    log.set(3, rows('100 %', 'c'))
    expect(printed).toEqual(['a', 'b', '100 %'])
    // After a new connection, the server sends rows again.
    log.set(2, rows('b', '100 %', 'c', 'd'))
    log.end()
    expect(printed).toEqual(['a', 'b', '100 %', 'c', 'd'])
  })

  it('begins at any row', () => {
    const printed: string[] = []
    const log = new GrowingLog(linesOutput((row) => void printed.push(textOfRow(row))))
    log.set(41, rows('x', 'y'))
    log.set(43, rows('z'))
    log.end()
    expect(printed).toEqual(['x', 'y', 'z'])
  })

  it('is shown in a terminal with rows that change in place', () => {
    const terminal = new TinyTerminal(20, 4)
    const output = terminalOutput(terminal, styledRow)
    const log = new GrowingLog(output)
    log.set(1, rows('one', 'two: 10 %', 'three: 5 %'))
    log.set(2, rows('two: 100 %', 'three: 50 %'))
    expect(terminal.text).toEqual(['one', 'two: 100 %', 'three: 50 %', ''])
    log.set(4, rows('four', 'five', 'six'))
    log.end()
    output.close()
    expect(terminal.text).toEqual(['one', 'two: 100 %', 'three: 50 %', 'four', 'five', 'six', ''])
    expect(terminal.isCursorVisible).toBe(true)
  })
})
