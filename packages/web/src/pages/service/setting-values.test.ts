import { describe, expect, it } from 'vitest'
import type { Setting } from '../services/queries.ts'
import { changedSettings, fromForm, initialValues, isMissing, toForm } from './setting-values.ts'

const aSetting = (name: string, given: Partial<Setting> = {}): Setting => ({
  name,
  label: name,
  hint: '',
  kind: 'text',
  choices: [],
  minimum: null,
  maximum: null,
  example: null,
  is_required: false,
  initial: null,
  is_generated: false,
  is_secret: false,
  shown: 'full',
  is_address: false,
  is_fixed: false,
  ...given,
})

const url = aSetting('url', { is_address: true, is_required: true })
const key = aSetting('key', { is_secret: true, is_required: true, shown: 'masked' })
const headers = aSetting('headers', { is_secret: true, shown: 'never', kind: 'map' })

describe('the settings in a form', () => {
  it('become what the API gets, of every kind', () => {
    const cases: Array<[Setting['kind'], unknown]> = [
      ['text', 'a'],
      ['lines', 'a:b\nc:d'],
      ['number', 3],
      ['switch', false],
      ['choice', 'token'],
      ['choices', ['build.finished']],
      ['map', { 'x-api-key': 'a: b', empty: '' }],
    ]
    for (const [kind, value] of cases) expect(fromForm({ kind }, toForm({ kind }, value))).toEqual(value)
    expect(fromForm({ kind: 'number' }, toForm({ kind: 'number' }, null))).toBe(null)
  })

  it('begin with the first values, or with those that are stored', () => {
    const version = aSetting('version', { kind: 'number', initial: 3 })
    expect(initialValues([version], null)).toEqual({ version: '3' })
    expect(initialValues([version], { version: 2 })).toEqual({ version: '2' })
  })

  it('are sent only where they differ', () => {
    const before = initialValues([url, key, headers], { url: 'https://a', key: 'XXXX1234' })
    expect(changedSettings([url, key, headers], before, before)).toEqual({})
    expect(changedSettings([url, key, headers], before, { ...before, key: 'new' })).toEqual({ key: 'new' })
  })

  it('need secrets again when the address changes', () => {
    const before = initialValues([url, key, headers], { url: 'https://a', key: 'XXXX1234' })
    const moved = { ...before, url: 'https://b' }
    expect([isMissing(key, before, moved), isMissing(url, before, moved)]).toEqual([true, false])
    expect(isMissing(key, before, { ...moved, key: 'new' })).toBe(false)
    expect(changedSettings([url, key, headers], before, moved)).toEqual({ url: 'https://b', headers: null })
  })
})
