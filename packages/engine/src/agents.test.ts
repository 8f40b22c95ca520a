import { describe, expect, it } from 'vitest'
import { matchesAgent } from './agents.ts'

describe('matchesAgent', () => {
  it.each([
    [[], ['queue=a'], true],
    [['queue=a'], ['queue=a', 'os=linux'], true],
    [['queue=a', 'os=mac'], ['queue=a', 'os=linux'], false],
    [['os=*'], ['os=linux'], true],
    [['os=*'], ['queue=q'], false],
    [['os='], ['os=linux'], true],
    [['os'], ['os=linux'], true],
    [['os=lin*'], ['os=linux'], false],
    [['OS=linux'], ['os=linux'], false],
    [['os=Linux'], ['os=linux'], false],
    [['xcode=15', 'xcode=16'], ['xcode=15', 'xcode=16'], true],
    [['flags=a=b'], ['flags=a=b'], true],
    [['docker'], ['docker'], true],
  ])('rules %j and tags %j: %s', (rules, tags, expected) => {
    expect(matchesAgent(rules, tags)).toBe(expected)
  })

  it('E36: a rule for any value still needs the key', () => {
    expect(matchesAgent(['queue=q', 'os=*'], ['queue=q'])).toBe(false)
  })
})
