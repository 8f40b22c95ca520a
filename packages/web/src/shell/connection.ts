// Whether the server can be reached. Calls and the event stream report it; while it is away, it is asked again.
import { useSyncExternalStore } from 'react'
import { onReachable, reportReachable } from '../api/call.ts'
import { fetchWithin } from '../api/fetch-within.ts'
import { Listeners } from '../api/listeners.ts'
import { queryClient } from '../api/queries.ts'

interface Connection {
  isReachable: boolean
  /** When the data on the page was last confirmed. */
  lastMs: number
  nextTryMs: number
}

const firstWaitMs = 1000
const longestWaitMs = 30_000
const longestLookMs = 10_000

let state: Connection = { isReachable: true, lastMs: Date.now(), nextTryMs: 0 }
let waitMs = firstWaitMs
let timer: ReturnType<typeof setTimeout> | undefined
const listeners = new Listeners()

function change(next: Connection): void {
  state = next
  listeners.call()
}

onReachable((isReachable) => {
  if (isReachable) {
    const wasAway = !state.isReachable
    state.lastMs = Date.now()
    clearTimeout(timer)
    waitMs = firstWaitMs
    if (!wasAway) return
    change({ isReachable: true, lastMs: Date.now(), nextTryMs: 0 })
    void queryClient.invalidateQueries()
  } else if (state.isReachable || Date.now() >= state.nextTryMs) {
    // Further failures do not put the next attempt off.
    clearTimeout(timer)
    const jittered = waitMs * (0.75 + Math.random() / 2)
    waitMs = Math.min(waitMs * 2, longestWaitMs)
    change({ ...state, isReachable: false, nextTryMs: Date.now() + jittered })
    timer = setTimeout(() => void tryNow(), jittered)
  }
})

export async function tryNow(): Promise<void> {
  try {
    const { ok } = await fetchWithin('/healthz', { cache: 'no-store' }, longestLookMs)
    reportReachable(ok)
  } catch {
    reportReachable(false)
  }
}

export const isAway = (): boolean => !state.isReachable

export const useConnection = (): Connection => useSyncExternalStore(listeners.add, () => state)
