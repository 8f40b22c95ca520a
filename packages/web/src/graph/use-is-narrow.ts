import { useSyncExternalStore } from 'react'

const query = window.matchMedia('(max-width: 639px)')

function subscribe(listener: () => void): () => void {
  query.addEventListener('change', listener)
  return () => query.removeEventListener('change', listener)
}

export const useIsNarrow = (): boolean => useSyncExternalStore(subscribe, () => query.matches)
