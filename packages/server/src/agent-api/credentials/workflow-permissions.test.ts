import { describe, expect, it } from 'vitest'
import { beyond, grantsOf, readWorkflowRequest } from './workflow-permissions.ts'

describe('grantsOf', () => {
  it.each([
    ['on: push', { contents: 'read' }],
    ['permissions: {}', {}],
    ['permissions: { contents: none }', {}],
    [
      'permissions:\n  contents: write\n  pull-requests: read\n  id-token: write\n  issues: none',
      { contents: 'write', pull_requests: 'read' },
    ],
    ['permissions: { contents: admin, administration: write }', {}],
    // Those of a job are not those of the workflow.
    ['jobs: { a: { permissions: { contents: write } } }', { contents: 'read' }],
  ])('%j', (text, value) => {
    expect(grantsOf(text)).toEqual({ ok: true, value })
  })

  it('takes read-all for all that can be read', () => {
    const granted = grantsOf('permissions: read-all')
    expect(granted.ok && granted.value).toMatchObject({ contents: 'read', checks: 'read', statuses: 'read' })
    expect(granted.ok && Object.values(granted.value).every((level) => level === 'read')).toBe(true)
  })

  it.each([
    ['permissions: write-all', /write-all/],
    ['permissions: [contents]', /neither a map/],
    ['permissions:', /neither a map/],
    ['[]', /not a workflow/],
    ['a: 1\n---\nb: 2', /not a workflow/],
    ['a: [', /cannot be read/],
    [`permissions: {contents: write}\npermissions: {}`, /cannot be read/],
  ])('grants nothing for %j', (text, reason) => {
    expect(grantsOf(text)).toEqual({ ok: false, reason: expect.stringMatching(reason) })
  })
})

describe('readWorkflowRequest', () => {
  const right = {
    repo_url: 'https://github.com/acme/app',
    workflow: 'ci.yml',
    permissions: { contents: 'read' },
  }

  it('takes what the runners of workflows send', () => {
    expect(readWorkflowRequest(right)).toEqual({
      ok: true,
      value: { repository: right.repo_url, workflow: 'ci.yml', permissions: { contents: 'read' } },
    })
  })

  it.each([
    [{ repo_url: undefined }, /repo_url/],
    [{ workflow: undefined }, /workflow must be/],
    [{ workflow: '../ci.yml' }, /workflow must be/],
    [{ workflow: 'a/b.yml' }, /workflow must be/],
    [{ workflow: '.ci.yml' }, /workflow must be/],
    [{ workflow: 'ci.yml?ref=x.yml' }, /workflow must be/],
    [{ workflow: 'ci.json' }, /workflow must be/],
    [{ permissions: undefined }, /permissions must say/],
    [{ permissions: {} }, /permissions must say/],
    [{ permissions: { administration: 'write' } }, /administration is not one of/],
    [{ permissions: { contents: 'admin' } }, /contents must be read or write/],
    [{ permissions: 'write-all' }, /is not one of/],
    [JSON.parse('{"permissions": {"__proto__": "write"}}') as object, /__proto__ is not one of/],
  ])('refuses %j', (given, reason) => {
    expect(readWorkflowRequest({ ...right, ...given })).toEqual({
      ok: false,
      reason: expect.stringMatching(reason),
    })
  })
})

describe('beyond', () => {
  it('finds what was not granted; writing includes reading', () => {
    expect(beyond({ contents: 'read', issues: 'write' }, { contents: 'write', issues: 'write' })).toBeNull()
    expect(beyond({ contents: 'write' }, { contents: 'read' })).toBe('contents: write')
    expect(beyond({ contents: 'read', issues: 'read' }, { contents: 'read' })).toBe('issues: read')
  })
})
