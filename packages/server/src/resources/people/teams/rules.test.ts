import { describe, expect, it } from 'vitest'
import { readFields, slugOf } from './rules.ts'

describe('slugOf', () => {
  it.each([
    ['Mobile', 'mobile'],
    ['Ops & Platform', 'ops-platform'],
    ['  --Night   shift!! ', 'night-shift'],
    ['Équipe Zürich', 'equipe-zurich'],
    [':rocket: 2', 'rocket-2'],
    ['開発 チーム', '開発-チーム'],
    ['Ча́йка', 'чаика'],
  ])('makes of %j the slug %j', (name, slug) => {
    expect(slugOf(name)).toBe(slug)
  })
})

describe('readFields', () => {
  it('sets only what the body gives, and the slug with the name', () => {
    expect(readFields({ name: 'A b', members_can_create_suites: false })).toEqual({
      name: 'A b',
      slug: 'a-b',
      members_can_create_suites: false,
    })
    expect(readFields({ description: null })).toEqual({ description: '' })
  })

  it('takes neither a slug nor an owner from the body', () => {
    const body = { slug: 'mine', organization_id: 'other', created_by: 'other', privacy: 'secret' as const }
    expect(readFields(body)).toEqual({ privacy: 'secret' })
  })
})
