import fc from 'fast-check'

const surrogates = { first: 0xd800, count: 0x800 }

/**
 * A unit for fc.string: any code point except surrogates, like its `binary`, which takes longer than a test to build its
 * map of a million code points.
 */
export const anyCharacter: fc.Arbitrary<string> = fc.nat({ max: 0x10_ffff - surrogates.count }).map(
  (index) => String.fromCodePoint(index < surrogates.first ? index : index + surrogates.count),
  (text) => {
    const point = typeof text === 'string' ? (text.codePointAt(0) ?? -1) : -1
    if (point === -1 || String.fromCodePoint(point) !== text) throw new Error('That is not one character.')
    return point < surrogates.first ? point : point - surrogates.count
  },
)
