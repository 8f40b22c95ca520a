import fc from 'fast-check'

const surrogates = { first: 0xd800, count: 0x800 }

/**
 * For fc.string: any code point but half surrogate pairs, as its own `binary` draws them. That one first makes a map of
 * all million of them, which takes longer than the test.
 */
export const anyCharacter: fc.Arbitrary<string> = fc.nat({ max: 0x10_ffff - surrogates.count }).map(
  (index) => String.fromCodePoint(index < surrogates.first ? index : index + surrogates.count),
  (text) => {
    const point = typeof text === 'string' ? (text.codePointAt(0) ?? -1) : -1
    if (point === -1 || String.fromCodePoint(point) !== text) throw new Error('That is not one character.')
    return point < surrogates.first ? point : point - surrogates.count
  },
)
