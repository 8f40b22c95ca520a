import { expect, it } from 'vitest'
import { Recipients } from './recipients.ts'

it('after five failures in a row a recipient has only its reserved slot, until an attempt succeeds', () => {
  const recipients = new Recipients()
  const share = () => recipients.capacity().shares.get('r')
  recipients.takeSlot('r')
  for (let n = 1; n <= 4; n++) recipients.noteAttempt('r', true)
  expect(share()).toEqual({ free: 15, hasReserved: false })
  recipients.noteAttempt('r', true)
  expect(share()).toEqual({ free: 0, hasReserved: false })
  recipients.releaseSlot('r')
  expect(share()).toEqual({ free: 1, hasReserved: true })
  recipients.takeSlot('r')
  recipients.noteAttempt('r', false)
  expect(share()).toEqual({ free: 15, hasReserved: false })
})

it('only the queues beyond the first of each recipient use shared slots', () => {
  const recipients = new Recipients()
  for (const id of ['r', 'r', 'r', 's']) recipients.takeSlot(id)
  expect(recipients.capacity().shared).toBe(126)
  for (const id of ['r', 'r', 'r', 's']) recipients.releaseSlot(id)
  expect(recipients.capacity()).toEqual({ shared: 128, perRecipient: 16, shares: new Map() })
})

it('remembers the latest thousand of those that fail', () => {
  const recipients = new Recipients()
  const fail = (id: string) => {
    recipients.takeSlot(id)
    recipients.noteAttempt(id, true)
    recipients.releaseSlot(id)
  }
  for (let n = 0; n < 1000; n++) fail(`r${n}`)
  fail('r0')
  fail('another')
  const known = recipients.capacity().shares
  expect([known.size, known.has('r0'), known.has('r1'), known.has('another')]).toEqual([
    1000,
    true,
    false,
    true,
  ])
})
