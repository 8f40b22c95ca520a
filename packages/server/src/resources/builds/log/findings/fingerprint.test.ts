import { describe, expect, it } from 'vitest'
import { fingerprintOf, maskedText } from './fingerprint.ts'

describe('the fingerprint of a failing row', () => {
  it('is the same where only numbers, ids, paths and times differ', () => {
    const same = [
      [
        'Error: connect ECONNREFUSED 127.0.0.1:5432 after 1.5 s',
        'Error: connect ECONNREFUSED 10.0.0.7:31999 after 20 s',
      ],
      [
        '2026-11-19T10:00:00.123Z job 0190f0c2-1111-7000-8000-000000000001 lost',
        '2025-01-02 03:04:05 job 0190f0c2-2222-7000-8000-00000000000f lost',
      ],
      ['/home/a/repo/src/app.ts:12:3 - error TS2322: no', '/var/lib/b-1/src/app.ts:99:1 - error TS2345: no'],
      ['commit 3f9c2e1aa at 0x7ffde9c1 is gone', 'commit 00aa11b at 0x1 is gone'],
    ] as const
    for (const [one, other] of same) expect(maskedText(one)).toBe(maskedText(other))
  })

  it('differs for another message, another file, another name', () => {
    const all = [
      'Error: connect ECONNREFUSED 127.0.0.1:5432',
      'Error: connect ETIMEDOUT 127.0.0.1:5432',
      'FAIL src/cart.test.ts',
      'FAIL src/user.test.ts',
    ].map(fingerprintOf)
    expect(new Set(all).size).toBe(4)
  })

  it('is none for a row without words', () => {
    expect(['12:00:01', '^^^ 12', '----', 'a1'].map(fingerprintOf)).toEqual([null, null, null, null])
  })
})
