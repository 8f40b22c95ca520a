import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ApiError } from './errors.ts'
import { Holdings } from './holdings.ts'

const owner = (organizationId: string, sender: string) => ({ organizationId, sender })

function refusalOf(take: () => unknown): unknown {
  try {
    take()
  } catch (error) {
    return error
  }
  return null
}

it('refuses a sender and an organization with 429 and everybody with 503, and says the limit', () => {
  const streams = new Holdings('streams open', { perSender: 2, perOrganization: 3, all: 4 })
  const first = streams.take(owner('A', 'x'))
  streams.take(owner('A', 'x'))
  const ofSender = refusalOf(() => streams.take(owner('A', 'x')))
  expect(ofSender).toBeInstanceOf(ApiError)
  expect(ofSender).toMatchObject({ status: 429, details: { limit: 2, reset: 2 } })
  expect(String(ofSender)).toContain('You have 2 streams open')
  streams.take(owner('A', 'y'))
  expect(refusalOf(() => streams.take(owner('A', 'z')))).toMatchObject({ status: 429, details: { limit: 3 } })
  streams.take(owner('B', 'x'))
  expect(refusalOf(() => streams.take(owner('C', 'x')))).toMatchObject({ status: 503 })
  expect(streams.refused).toBe(3)
  first()
  first()
  expect(streams.held).toBe(3)
  streams.take(owner('A', 'x'))
})

it('never holds more than its limits, and forgets everything that is given back', () => {
  const anAction = fc.oneof(
    fc.record({ organizationId: fc.constantFrom('A', 'B', 'C'), sender: fc.constantFrom('x', 'y', 'z') }),
    fc.integer({ min: 0, max: 30 }),
  )
  fc.assert(
    fc.property(fc.array(anAction, { maxLength: 100 }), (actions) => {
      const limits = { perSender: 3, perOrganization: 5, all: 8 }
      const holdings = new Holdings('things', limits)
      const held: Array<{ organizationId: string; sender: string; giveBack: () => void }> = []
      for (const action of actions) {
        if (typeof action === 'number') {
          const [one] = held.splice(action % Math.max(held.length, 1), 1)
          one?.giveBack()
          continue
        }
        const ofOrganization = held.filter(({ organizationId }) => organizationId === action.organizationId)
        const ofSender = ofOrganization.filter(({ sender }) => sender === action.sender)
        const hasRoom =
          ofSender.length < limits.perSender &&
          ofOrganization.length < limits.perOrganization &&
          held.length < limits.all
        const refusal = refusalOf(() => held.push({ ...action, giveBack: holdings.take(action) }))
        expect(refusal === null).toBe(hasRoom)
        expect(holdings.held).toBe(held.length)
      }
      for (const { giveBack } of held) giveBack()
      expect(holdings.held).toBe(0)
      for (let n = 0; n < limits.perSender; n++) holdings.take(owner('A', 'x'))
    }),
  )
})
