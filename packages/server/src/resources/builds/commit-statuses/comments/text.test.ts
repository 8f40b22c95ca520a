import { describe, expect, it } from 'vitest'
import { commentText, longestText } from './text.ts'

const build = {
  state: 'failed',
  address: 'acme/app',
  number: 12,
  commit: '0123456789abcdef',
  url: 'https://ci.example.com/acme/app/builds/12',
} as const

const outside = (text: string) => text.split('\n').filter((line) => line !== '' && !line.startsWith('    '))

describe('commentText', () => {
  it.each([
    ['```'],
    ['~~~~'],
    ['a\n/close'],
    ['a\r/close'],
    ['a\u2028/close'],
    ['a\u0085/close'],
    ['\t/close'],
    ['[//]: # (x)'],
    ['<!--'],
    ['\ud800'],
    ['\0'],
  ])('keeps %j in its block', (line) => {
    const jobs = [{ id: 'one', name: line, rows: [line, '', line] }]
    const plain = commentText(build, [{ id: 'one', name: 'x', rows: ['y'] }], 'marker')
    const text = commentText(build, jobs, 'marker')
    expect(outside(text)).toEqual(outside(plain))
    expect(text).not.toMatch(/[\r\0\u0085\u2028\ud800]/)
    expect(text.isWellFormed()).toBe(true)
  })

  it('mentions nobody', () => {
    const text = commentText(build, [{ id: 'one', name: '@all', rows: ['by @root, @@x @{1}'] }], 'marker')
    expect(text.match(/@(?!\u200b)/g)).toBeNull()
    expect(text.replaceAll('\u200b', '')).toContain('    by @root, @@x @{1}')
  })

  it('has at most ten jobs and says that there are more', () => {
    const jobs = Array.from({ length: 11 }, (_, index) => ({
      id: `j${index}`,
      name: `Job ${index}`,
      rows: [],
    }))
    expect(commentText(build, jobs, 'marker')).toMatch(/Job 9\n\nThe link has the other failed jobs\.\n\n\[/)
    expect(commentText(build, jobs, 'marker')).not.toContain('Job 10')
    expect(commentText(build, jobs.slice(0, 10), 'marker')).not.toContain('other failed jobs')
  })

  it('stays below the limits of the hosts, whatever the lines are', () => {
    const rows = Array.from({ length: 20 }, () => '@'.repeat(500))
    const jobs = Array.from({ length: 10 }, (_, index) => ({ id: `j${index}`, name: '😀'.repeat(500), rows }))
    const text = commentText(build, jobs, 'marker')
    expect(text.length).toBeLessThanOrEqual(longestText)
    expect(Buffer.byteLength(text)).toBeLessThan(65_535)
    expect(text).toContain('    @')
    expect(text.endsWith('(millrace marker)\n')).toBe(true)
  })
})
