import { matchesAgent } from '@millrace/engine/agents.ts'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { abilityOf } from './claimant.ts'

const word = fc.constantFrom('a', 'b', '*', '', 'a=b')
const pair = fc.oneof(
  fc.constantFrom('os', 'arch'),
  fc.tuple(fc.constantFrom('os', 'arch', 'x'), word).map(([key, value]) => `${key}=${value}`),
)

it('an agent satisfies the rules that the engine says its tags match', () => {
  fc.assert(
    fc.property(fc.array(pair, { maxLength: 4 }), fc.array(pair, { maxLength: 3 }), (tags, rules) => {
      const { rules: satisfied } = abilityOf(tags)
      expect(rules.every((rule) => satisfied.has(rule))).toBe(matchesAgent(rules, tags))
    }),
  )
})
