import { describe, expect, it } from 'vitest'
import { TinyTerminal } from '../../../test/tiny-terminal.ts'
import { LiveArea } from './live-area.ts'

function open(columns = 20, rows = 10) {
  const terminal = new TinyTerminal(columns, rows)
  return { terminal, area: new LiveArea(terminal) }
}

describe('the live area of a terminal', () => {
  it('draws again in place, and writes only lines that differ', () => {
    const { terminal, area } = open()
    area.update([], ['one', 'two', 'three'])
    terminal.written = ''
    area.update([], ['one', 'TWO', 'three'])
    expect(terminal.text).toEqual(['one', 'TWO', 'three', ''])
    expect(terminal.written).toContain('TWO')
    expect(terminal.written).not.toMatch(/one|three/)
    terminal.written = ''
    area.update([], ['one', 'TWO', 'three'])
    expect(terminal.written).toBe('')
  })

  it('clears what is left of longer lines and of more lines', () => {
    const { terminal, area } = open()
    area.update([], ['a long line', 'two', 'three'])
    area.update([], ['short'])
    expect(terminal.text).toEqual(['short', ''])
  })

  it('puts permanent lines above, where they stay', () => {
    const { terminal, area } = open()
    area.update([], ['live 1', 'live 2'])
    area.update(['failed'], ['live 3', 'live 4'])
    area.update([], ['live 5'])
    expect(terminal.text).toEqual(['failed', 'live 5', ''])
  })

  it('writes nothing again of lines that become permanent where they are', () => {
    const { terminal, area } = open()
    area.update([], ['row 1', 'row 2', 'row 3'])
    terminal.written = ''
    area.update(['row 1'], ['row 2', 'row 3', 'row 4'])
    expect(terminal.text).toEqual(['row 1', 'row 2', 'row 3', 'row 4', ''])
    expect(terminal.written).not.toMatch(/row [123]/)
  })

  it('wraps permanent lines, and cuts live ones', () => {
    const { terminal, area } = open(10)
    area.update([], ['0123456789abc', 'x'])
    expect(terminal.text).toEqual(['0123456789', 'x', ''])
    area.update(['0123456789abc'], ['y'])
    expect(terminal.text).toEqual(['0123456789', 'abc', 'y', ''])
  })

  it('draws anew after a resize, also where the terminal has wrapped its lines', () => {
    const { terminal, area } = open(20)
    area.update(['above'], ['a line of 18 chars', 'second'])
    terminal.resize(10)
    area.update([], ['a line of', 'second'])
    expect(terminal.text).toEqual(['above', 'a line of', 'second', ''])
    terminal.resize(30)
    area.update([], ['a line of 18 chars', 'second'])
    expect(terminal.text).toEqual(['above', 'a line of 18 chars', 'second', ''])
  })

  it('gives the terminal back as it was', () => {
    const { terminal, area } = open()
    area.update([], ['one'])
    expect(terminal.isCursorVisible).toBe(false)
    area.close('keep')
    expect(terminal).toMatchObject({ isCursorVisible: true, doesWrap: true, text: ['one', ''] })
    const other = open()
    other.area.update([], ['one', 'two'])
    other.area.close('clear')
    expect(other.terminal).toMatchObject({ isCursorVisible: true, doesWrap: true, text: [''] })
  })
})
