import { describe, expect, it } from 'vitest'
import { bitsOf, Sketch } from './sketch.ts'

const mayContain = (sketch: Uint8Array, text: string) =>
  bitsOf([text], 8).every((bit) => {
    const here = bit & (sketch.length * 8 - 1)
    return ((sketch[here >> 3] ?? 0) & (1 << (here & 7))) !== 0
  })

const words = Array.from({ length: 3000 }, (_, index) => `line-${(index * 7919).toString(36)} ended`)

function sketchOf(lines: readonly string[]): Uint8Array {
  const sketch = new Sketch()
  for (const line of lines) sketch.add(line)
  return sketch.smallest
}

describe('the sketch of a log', () => {
  it('never rules out what the log contains, in any case', () => {
    const sketch = sketchOf(words)
    expect(words.filter((word) => !mayContain(sketch, word.toUpperCase()))).toEqual([])
    expect(mayContain(sketchOf(['300 K\u212A and mi\u017fsing']), 'kk AND missing')).toBe(true)
  })

  it('rules out nearly all else', () => {
    const sketch = sketchOf(words)
    const others = Array.from({ length: 500 }, (_, index) => `Timeout ${index}, connection refused by peer`)
    expect(others.filter((other) => mayContain(sketch, other)).length).toBeLessThan(25)
  })

  it('is small for a small log, and smallest for an empty one', () => {
    expect(sketchOf([]).length).toBe(8)
    expect(sketchOf(['npm test: 1 failed']).length).toBe(8)
    expect(sketchOf(words).length).toBeLessThan(4096)
  })

  it('rules out nothing by text that is too short, or not of ASCII', () => {
    expect(bitsOf(['ab', 'é\u4e16\u754c'], 8)).toEqual([])
  })

  it('is the same when its parts were made apart', () => {
    const whole = new Sketch()
    for (const half of [words.slice(0, 1500), words.slice(1500)]) {
      const part = new Sketch()
      for (const line of half) part.add(line)
      whole.merge(part.bits)
    }
    expect(Buffer.from(whole.smallest).equals(Buffer.from(sketchOf(words)))).toBe(true)
  })
})
