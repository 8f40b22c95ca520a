import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readXml, XmlError } from './xml.ts'

const read = (source: string) =>
  [...readXml(source)].map((piece) =>
    piece.kind === 'open'
      ? `<${piece.name}${[...piece.attributes].map(([key, value]) => ` ${key}=${value}`).join('')}>`
      : piece.kind === 'close'
        ? `</${piece.name}>`
        : piece.text,
  )

describe('readXml', () => {
  it('reads tags, attributes and text', () => {
    const source = `\uFEFF<?xml version="1.0"?>\n<!-- a > b --><a x="1" y = '2>3'><b/>text</a>\n`
    expect(read(source)).toEqual(['<a x=1 y=2>3>', '<b>', '</b>', 'text', '</a>'])
  })

  it('decodes the five entities and numeric characters, and leaves the rest alone', () => {
    expect(
      read('<a x="&lt;&quot;">&amp;lt; &#65;&#x1F600; &xxe; &#; &#x110000; &constructor; a & b</a>'),
    ).toEqual(['<a x=<">', '&lt; A😀 &xxe; &#; &#x110000; &constructor; a & b', '</a>'])
  })

  it('does not decode CDATA', () => {
    expect(read('<a><![CDATA[<b>&amp;]]></a>')).toEqual(['<a>', '<b>&amp;', '</a>'])
  })

  it.each([
    ['<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>', /document type/],
    ['<a><b></a></b>', /closes nothing/],
    ['<a>', /never closed/],
    ['<a', /no name/],
    ['<a b>', /no value/],
    ['<a b=c>', /no quotes/],
    ['<a b="c>', /in the middle/],
    ['<a>< b/></a>', /no name/],
    ['<!-- a', /in the middle/],
    ['<a>'.repeat(101), /100 levels/],
  ])('refuses %s', (source, reason) => {
    expect(() => read(source)).toThrow(reason)
  })

  it('returns or throws an XmlError for any input', () => {
    const pieces = fc.constantFrom(
      '<',
      '>',
      '/',
      '!',
      '--',
      '[CDATA[',
      ']]>',
      '?',
      '"',
      "'",
      '=',
      '&',
      ';',
      '#',
      'a',
      ' ',
    )
    const isSurprise = (source: string) => {
      try {
        read(source)
        return false
      } catch (error) {
        return !(error instanceof XmlError)
      }
    }
    const samples = fc.sample(fc.array(pieces), { numRuns: 2000, seed: 1 }).map((parts) => parts.join(''))
    expect(samples.filter(isSurprise)).toEqual([])
  })

  // A time that grows with the square of the input would exceed the limit of a test.
  it('takes time proportional to the input', () => {
    const hostile = ['&', '<a x="&', '<!--', '<a>'.repeat(99)].map((piece) =>
      piece.repeat(4_000_000 / piece.length),
    )
    for (const source of hostile) expect(() => read(`<r>${source}`)).toThrow(XmlError)
  })
})
