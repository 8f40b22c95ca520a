import { createContext, useEffect } from 'react'

/** Whether a page with a heading is around. */
export const InPage = createContext(false)

export function useTabTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Millrace`
  }, [title])
}
