import { useCallback, useSyncExternalStore } from 'react'

/** Whether a media query matches now. */
function useMedia(query: string): boolean {
  const subscribe = useCallback(
    (listener: () => void) => {
      const list = matchMedia(query)
      list.addEventListener('change', listener)
      return () => list.removeEventListener('change', listener)
    },
    [query],
  )
  return useSyncExternalStore(subscribe, () => matchMedia(query).matches)
}

export const usePhone = () => useMedia('(max-width: 640px)')
export const useWide = () => useMedia('(min-width: 1024px)')
