import { describe, expect, it } from 'vitest'
import { readAuthor } from './create-request.ts'
import { readReference } from '../references.ts'

const server = 'https://ci.example.com/base'
const id = '01890000-0000-7000-8000-000000000001'

describe('the name of a build', () => {
  it('is a number, or a pipeline with a number', () => {
    const none = { org: null, pipeline: null, job: null }
    expect(readReference('12', server)).toEqual({ ...none, build: '12' })
    expect(readReference('#12', server)).toEqual({ ...none, build: '12' })
    expect(readReference('web/12', server)).toEqual({ ...none, pipeline: 'web', build: '12' })
    expect(readReference('web#12', server)).toEqual({ ...none, pipeline: 'web', build: '12' })
    for (const text of ['web', 'web/x', 'a/b/12', '-1', '', id, `web/${id}`]) {
      expect(readReference(text, server)).toBeNull()
    }
  })

  it('is the address of its page, or of the page of one of its jobs', () => {
    expect(readReference(`${server}/acme/web/builds/12?view=graph#${id}`, server)).toEqual({
      org: 'acme',
      pipeline: 'web',
      build: '12',
      job: id,
    })
    expect(() => readReference('https://other.example.com/base/acme/web/builds/12', server)).toThrow(
      'another server than https://ci.example.com/base',
    )
    expect(() => readReference('https://ci.example.com/base/acme', server)).toThrow(
      'not the address of a build',
    )
  })
})

describe('an author', () => {
  it('has a name, an address, or both', () => {
    expect(readAuthor('Ada L. <ada@example.com>')).toEqual({ name: 'Ada L.', email: 'ada@example.com' })
    expect(readAuthor('ada@example.com')).toEqual({ name: null, email: 'ada@example.com' })
    expect(readAuthor('Ada')).toEqual({ name: 'Ada', email: null })
    expect(readAuthor('<ada@example.com>')).toEqual({ name: null, email: 'ada@example.com' })
  })
})
