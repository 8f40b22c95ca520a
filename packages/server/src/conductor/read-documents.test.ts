import { describe, expect, it } from 'vitest'
import { readPipeline, type ReadPipeline } from '@millrace/engine/steps/document.ts'
import { ReadDocuments } from './read-documents.ts'

const none: ReadonlyMap<string, string> = new Map()

function documentOf(text: string): Extract<ReadPipeline, { ok: true }> {
  const read = readPipeline(text, { origin: 'stored', maxBytes: 1000 })
  if (!read.ok) throw new Error('The text is wrong.')
  return read
}

describe('ReadDocuments', () => {
  it('finds a text while the variables that it names have the same values, or still none', () => {
    const cache = new ReadDocuments(1000)
    const read = documentOf('steps: [{ command: a }]')
    cache.add('text', new Map([['A', '1']]), ['A', 'B'], read)
    expect(
      cache.find(
        'text',
        new Map([
          ['A', '1'],
          ['C', '9'],
        ]),
      ),
    ).toBe(read)
    expect(cache.find('text', new Map([['A', '2']]))).toBeUndefined()
    expect(
      cache.find(
        'text',
        new Map([
          ['A', '1'],
          ['B', ''],
        ]),
      ),
    ).toBeUndefined()
    expect(cache.find('other text', new Map([['A', '1']]))).toBeUndefined()
  })

  it('keeps several values of a variable, and forgets the oldest of many', () => {
    const cache = new ReadDocuments(1000)
    const values = Array.from({ length: 5 }, (_, index) => new Map([['A', String(index)]]))
    for (const variables of values) cache.add('text', variables, ['A'], documentOf('steps: []'))
    expect(values.map((variables) => cache.find('text', variables) !== undefined)).toEqual([
      false,
      ...Array.from({ length: 4 }, () => true),
    ])
  })

  it('forgets the text that was not used for longest when all together are too long', () => {
    const cache = new ReadDocuments(10)
    for (const text of ['12345', 'abcde']) cache.add(text, none, [], documentOf('steps: []'))
    cache.find('12345', none)
    cache.add('ABCDE', none, [], documentOf('steps: []'))
    expect(['12345', 'abcde', 'ABCDE'].map((text) => cache.find(text, none) !== undefined)).toEqual([
      true,
      false,
      true,
    ])
  })

  it('gives documents that cannot be changed', () => {
    const cache = new ReadDocuments(100)
    cache.add('text', none, [], documentOf('steps: [{ command: a }]'))
    const steps = cache.find('text', none)?.document.steps
    expect(Object.isFrozen(steps) && Object.isFrozen(steps?.[0])).toBe(true)
  })
})
