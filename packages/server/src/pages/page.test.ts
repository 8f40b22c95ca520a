import { describe, expect, it } from 'vitest'
import { localPath } from './page.ts'

const base = 'https://ci.example.com'

describe('abuse case R12: where a visitor is sent after signing in', () => {
  it.each([
    '//evil.com',
    '///evil.com',
    '/.//evil.com',
    '/..//evil.com',
    '/././/evil.com',
    '/a/..//evil.com',
    '/%2e//evil.com',
    '/%2E%2e//evil.com',
    '/x/%2e%2e//evil.com',
    '/\\evil.com',
    '\\\\evil.com',
    '/.\\/evil.com',
    '/\t/evil.com',
    '/.\t//evil.com',
    '/\n//evil.com',
    ' //evil.com',
    '\u0000//evil.com',
    'https://evil.com',
    'https:evil.com',
    'javascript:alert(1)',
    'evil.com',
    '',
    null,
  ])('is never %j', (text) => {
    expect(localPath(base, text)).toBeNull()
  })

  it.each([
    ['/', '/'],
    ['/docs?a=b', '/docs?a=b'],
    ['/organizations/acme/services/connect', '/organizations/acme/services/connect'],
    ['/%09/evil.com', '/%09/evil.com'],
    ['/a//evil.com', '/a//evil.com'],
    ['/a/./b', '/a/b'],
    ['/@evil.com', '/@evil.com'],
  ])('may be %j', (text, path) => {
    expect(localPath(base, text)).toBe(path)
    expect(new URL(path, base).origin).toBe(base)
  })
})
