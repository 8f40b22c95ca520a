import { useEffect, type RefObject } from 'react'
import { selectedText } from './copy-rows.ts'

/** Copies the text of selected rows alone. */
export function useCopying(scroller: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const element = scroller.current
    if (element === null) return
    const onCopy = (event: ClipboardEvent) => {
      const selection = document.getSelection()
      if (selection === null || selection.isCollapsed) return
      const text = selectedText(selection.getRangeAt(0), element)
      if (text === null) return
      event.preventDefault()
      event.clipboardData?.setData('text/plain', text)
    }
    element.addEventListener('copy', onCopy)
    return () => element.removeEventListener('copy', onCopy)
  }, [scroller])
}
