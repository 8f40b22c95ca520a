import { expect, it } from 'vitest'
import { expiryAfter } from './lifetimes.ts'
import { describeNetworks, writtenNetworks } from './networks.ts'

it('shows a token of any address as such, and others with their networks', () => {
  expect([describeNetworks('0.0.0.0/0 ::/0'), writtenNetworks('0.0.0.0/0 ::/0')]).toEqual(['Any address', ''])
  expect([describeNetworks('10.0.0.0/8'), writtenNetworks('10.0.0.0/8')]).toEqual([
    '10.0.0.0/8',
    '10.0.0.0/8',
  ])
})

it('counts the days of a token from now', () => {
  const nowMs = Date.parse('2026-05-03T12:00:00Z')
  expect([expiryAfter('', nowMs), expiryAfter('7', nowMs)]).toEqual([null, '2026-05-10T12:00:00.000Z'])
})
