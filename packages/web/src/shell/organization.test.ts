import { expect, it } from 'vitest'
import { organizationOf } from './organization.ts'

it.each([
  ['/acme', 'acme'],
  ['/acme/demo/builds/7', 'acme'],
  ['/organizations/acme/settings/general', 'acme'],
  ['/organizations', null],
  ['/-/me/tokens', null],
  ['/', null],
])('the organization of %s is %s', (path, expected) => {
  expect(organizationOf(path)).toBe(expected)
})
