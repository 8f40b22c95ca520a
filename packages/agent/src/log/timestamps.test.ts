import { array, assert, nat, property, string } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createStamper } from './timestamps.ts'

const stampAt = (time: number) => `\x1b_bk;t=${time}\x07`

describe('stamper', () => {
  it('marks the start of every line, and no line twice', () => {
    const stamper = createStamper(() => 5)
    const stamp = stampAt(5)
    const out = ['a\nb', 'c\n', '\nd'].map((text) => stamper.push(Buffer.from(text)).toString())
    expect(out).toEqual([`${stamp}a\n${stamp}b`, 'c\n', `${stamp}\n${stamp}d`])
  })

  it('marks a line again that is written slowly, but never inside a character or an escape code', () => {
    let time = 1000
    const stamper = createStamper(() => time)
    const push = (text: string) => {
      time += 1500
      return stamper.push(Buffer.from(text, 'latin1')).toString('latin1')
    }
    expect(push('50%')).toBe(`${stampAt(2500)}50%`)
    expect(push('\x1b[3')).toBe(`${stampAt(4000)}\x1b[3`)
    expect(push('1m')).toBe('1m')
    expect(push('\xc3')).toBe(`${stampAt(7000)}\xc3`)
    expect(push('\xa9')).toBe('\xa9')
  })

  it('changes nothing else, however the stream is cut', () => {
    assert(
      property(array(string()), nat(), (texts, step) => {
        let time = 0
        const stamper = createStamper(() => (time += step))
        const out = texts.map((text) => stamper.push(Buffer.from(text)).toString()).join('')
        expect(out.replaceAll(/\x1b_bk;t=\d+\x07/g, '')).toBe(texts.join(''))
      }),
    )
  })
})
