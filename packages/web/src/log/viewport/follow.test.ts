import { describe, expect, it } from 'vitest'
import { following, moved, newRows, stopped } from './follow.ts'

describe('follow', () => {
  it('stops on any upward move and counts the rows that come', () => {
    const after = moved(following, { by: -1, isAtEnd: false, total: 100 })
    expect(after).toEqual(stopped(100))
    expect(newRows(after, 112)).toBe(12)
    expect(newRows(following, 112)).toBe(0)
  })

  it('keeps its count when the reader moves on upwards', () => {
    const after = moved(stopped(100), { by: -50, isAtEnd: false, total: 120 })
    expect(newRows(after, 120)).toBe(20)
  })

  it('resumes at the end alone', () => {
    expect(moved(stopped(100), { by: 20, isAtEnd: false, total: 100 }).isFollowing).toBe(false)
    expect(moved(stopped(100), { by: 20, isAtEnd: true, total: 100 }).isFollowing).toBe(true)
  })
})
