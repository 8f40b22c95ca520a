import { describe, expect, it } from 'vitest'
import { findEvidence, type Execution, type FlakyRules } from './flakiness.ts'

const rules: FlakyRules = {
  onSameCommit: true,
  transitions: 4,
  window: 20,
  clearDays: 7,
  clearExecutions: 100,
}

const dayMs = 24 * 60 * 60 * 1000
const start = Date.UTC(2026, 0, 1)
const at = (minute: number) => new Date(start + minute * 60_000).toISOString()
const now = (minute: number) => new Date(start + minute * 60_000)

/** `P` passed, `F` failed; one run, a minute and a commit each. */
const runs = (results: string, given: Partial<Execution> = {}): Execution[] =>
  Array.from(results, (result, index) => ({
    runId: `run ${index}`,
    commit: `commit ${index}`,
    variant: null,
    isOnDefaultBranch: true,
    hasFailed: result === 'F',
    at: at(index),
    ...given,
  }))

const onOneCommit = { commit: 'c', isOnDefaultBranch: false }

describe('findEvidence', () => {
  it.each([
    ['passes always', 'PPPPPPPPPP', {}, null],
    ['was broken and repaired', 'PPFFFPPP', {}, null],
    ['was broken and repaired, and is broken again', 'PFFPPFF', {}, null],
    ['fails always', 'FFFFF', {}, null],
    ['changes often on the default branch', 'PFPPFP', {}, 5],
    ['changes often on other branches', 'PFPPFP', { isOnDefaultBranch: false }, null],
    ['failed and passed on one commit', 'FP', onOneCommit, 1],
    ['passed and failed on one commit, and failed again', 'PFF', onOneCommit, 1],
    ['failed and passed where no commit is known', 'FP', { ...onOneCommit, commit: null }, null],
    ['fails on one commit', 'FF', onOneCommit, null],
  ])('judges a test that %s', (_name, results, given, minute) => {
    expect(findEvidence(runs(results, given), rules, now(results.length))).toBe(
      minute === null ? null : at(minute),
    )
  })

  it('finds no contradiction between variants', () => {
    const [failed, passed] = [runs('F', onOneCommit), runs('P', { ...onOneCommit, variant: 'other' })]
    expect(findEvidence([...failed, ...passed], rules, now(2))).toBeNull()
  })

  it('does not call a test flaky that fails each time on the default branch', () => {
    const elsewhere = runs('FP', onOneCommit)
    expect(findEvidence([...elsewhere, ...runs('FFF', { runId: 'main' })], rules, now(9))).toBeNull()
  })

  it('forgets evidence after days or executions without more', () => {
    const seen = runs('FP', onOneCommit)
    const last = start + 60_000
    expect(findEvidence(seen, rules, new Date(last + 7 * dayMs - 1))).toBe(at(1))
    expect(findEvidence(seen, rules, new Date(last + 7 * dayMs))).toBeNull()
    const later = (count: number) => runs(`FP${'P'.repeat(count)}`, onOneCommit)
    expect(findEvidence(later(99), rules, now(200))).toBe(at(1))
    expect(findEvidence(later(100), rules, now(200))).toBeNull()
  })

  it('counts changes in the newest runs only, and not when it is told not to', () => {
    const changes = `PFPFP${'P'.repeat(16)}`
    expect(findEvidence(runs(changes), rules, now(30))).toBeNull()
    expect(findEvidence(runs(changes), { ...rules, window: 21 }, now(30))).toBe(at(4))
    expect(findEvidence(runs(changes), { ...rules, window: 21, transitions: null }, now(30))).toBeNull()
    expect(findEvidence(runs('FP', onOneCommit), { ...rules, onSameCommit: false }, now(3))).toBeNull()
  })

  it('does not depend on the order of executions, and never names a test that only passes', () => {
    for (let seed = 1; seed <= 300; seed += 1) {
      const bits = Array.from({ length: 12 }, (_, index) => (seed * 2654435761 * (index + 1)) % 7 < 2)
      const some = bits.map((hasFailed, index): Execution => ({
        runId: `${index % 8}`,
        commit: `${index % 5}`,
        variant: index % 3 === 0 ? 'v' : null,
        isOnDefaultBranch: index % 8 > 3,
        hasFailed,
        at: at(index),
      }))
      const found = findEvidence(some, rules, now(60))
      expect(findEvidence(some.toReversed(), rules, now(60))).toBe(found)
      const isOneSided = bits.every((hasFailed) => hasFailed === bits[0])
      expect(isOneSided && found !== null).toBe(false)
      expect(found === null || some.some((one) => one.at === found)).toBe(true)
    }
  })
})
