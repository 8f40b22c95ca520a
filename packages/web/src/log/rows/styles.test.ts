import { describe, expect, it } from 'vitest'
import { contrast, legible, readHex } from './colors.ts'
import { lookOf } from './styles.ts'

const light = { l: 0.99, c: 0.002, h: 255 }
const dark = { l: 0.145, c: 0.008, h: 255 }

describe('legible', () => {
  it('moves every colour until it can be read in both themes', () => {
    for (let color = 0; color < 0xff_ff_ff; color += 0x0f_0e_0d) {
      const read = readHex(`#${color.toString(16).padStart(6, '0')}`)
      if (read === null) throw new Error('no colour')
      expect(contrast(legible(read, light), light)).toBeGreaterThanOrEqual(4.5)
      expect(contrast(legible(read, dark), dark)).toBeGreaterThanOrEqual(4.5)
    }
  })

  it('leaves a legible colour as it is', () => {
    const black = readHex('#000000')
    expect(black && legible(black, light)).toEqual(black)
  })

  it('knows the contrast of black and white', () => {
    const [black, white] = [readHex('#000000'), readHex('#ffffff')]
    expect(black && white && contrast(black, white)).toBeCloseTo(21, 1)
  })
})

describe('lookOf', () => {
  it('names classes of the palette', () => {
    expect(lookOf('fg1 bold')).toEqual({ classes: ['bold', 'fg1'] })
    expect(lookOf('bg3')).toEqual({ classes: ['bg3'] })
    expect(lookOf('fg4 inverse')).toEqual({ classes: ['bg4'] })
    expect(lookOf('inverse')).toEqual({ classes: ['bgText'] })
    expect(lookOf('')).toEqual({ classes: [] })
  })

  it('gives other colours for both themes', () => {
    expect(lookOf('fg#ff8800').color).toMatch(/^light-dark\(oklch\(/)
    expect(lookOf('bg#102030')).toMatchObject({ background: expect.stringMatching(/^oklch/), classes: [] })
  })
})
