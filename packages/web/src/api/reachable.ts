// Whether the last call reached the server. While it is away, nothing can be written.
import { useSyncExternalStore } from 'react'
import { onReachable } from './call.ts'
import { Listeners } from './listeners.ts'

let isReachable = true
const listeners = new Listeners()

onReachable((isNow) => {
  if (isNow === isReachable) return
  isReachable = isNow
  listeners.call()
})

/** Why nothing can be written now; undefined: it can. */
export const useWritesOff = (): string | undefined =>
  useSyncExternalStore(listeners.add, () => isReachable) ? undefined : 'The server cannot be reached now'
