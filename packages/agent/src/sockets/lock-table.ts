// The values of locks in memory. Jobs of forks have locks of their own, with smaller limits, so they neither see nor hold the
// locks of trusted jobs, nor take their room.

import { refuse } from './http.ts'
import type { SocketAnswer } from './http.ts'

interface Limits {
  keyBytes: number
  valueBytes: number
  /** Of all keys and values. */
  bytes: number
}

export const LOCK_LIMITS = {
  trusted: { keyBytes: 1024, valueBytes: 1024, bytes: 16 * 1024 * 1024 },
  forks: { keyBytes: 256, valueBytes: 256, bytes: 256 * 1024 },
} as const satisfies Record<string, Limits>

/** What a lock needs besides its key and value. */
const OVERHEAD_BYTES = 100

/** The value of finished work, which later jobs only read. */
const DONE = 'done'

export interface LockTable {
  read(key: string): SocketAnswer
  swap(key: string, change: Readonly<Record<string, unknown>>): SocketAnswer
  bytes(): number
}

export function createLockTable(limits: Limits): LockTable {
  const values = new Map<string, string>()
  let bytes = 0

  const sizeOf = (key: string, value: string) =>
    Buffer.byteLength(key) + Buffer.byteLength(value) + OVERHEAD_BYTES

  function remove(key: string): void {
    const value = values.get(key)
    if (value === undefined) return
    values.delete(key)
    bytes -= sizeOf(key, value)
  }

  /** Removes what finished first, until the lock fits. False: everything else is in use. */
  function makeRoom(needed: number): boolean {
    if (bytes + needed <= limits.bytes) return true
    for (const [key, value] of values) {
      if (value === DONE) remove(key)
      if (bytes + needed <= limits.bytes) return true
    }
    return false
  }

  const isKey = (key: string) => key !== '' && Buffer.byteLength(key) <= limits.keyBytes
  const isNoKey = () => refuse(422, `the key of a lock has 1 to ${limits.keyBytes} bytes`)

  return {
    bytes: () => bytes,
    read: (key) => (isKey(key) ? { status: 200, body: { value: values.get(key) ?? '' } } : isNoKey()),
    swap(key, { old, new: next = '' }) {
      if (!isKey(key)) return isNoKey()
      if (typeof next !== 'string' || Buffer.byteLength(next) > limits.valueBytes)
        return refuse(422, `the value of a lock is a text of at most ${limits.valueBytes} bytes`)
      const value = values.get(key) ?? ''
      if (value !== old) return { status: 200, body: { value, swapped: false } }
      remove(key)
      if (next !== '') {
        if (!makeRoom(sizeOf(key, next))) {
          if (value !== '') set(key, value)
          return refuse(507, 'there are too many locks')
        }
        set(key, next)
      }
      return { status: 200, body: { value: next, swapped: true } }
    },
  }

  function set(key: string, value: string): void {
    values.set(key, value)
    bytes += sizeOf(key, value)
  }
}
