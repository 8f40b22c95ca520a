import { useEffect, type RefObject } from 'react'
import { useKeys } from '../parts/keys.ts'
import type { LogActions } from './actions.ts'

/** `onEdge` goes to the first or last row: browsers would go to the end of an element that is shorter than the log. */
export function useLogKeys(
  actions: LogActions,
  view: RefObject<HTMLElement | null>,
  onEdge: (edge: 'first' | 'last') => void,
): void {
  useKeys([
    { keys: 'j', label: 'Follow the log, or stop', run: actions.toggleFollow },
    { keys: 'n', label: 'Next match in the log', run: () => actions.step(1) },
    { keys: 'N', label: 'Previous match in the log', run: () => actions.step(-1) },
    { keys: 't', label: 'Times: off, absolute, since start, delta', run: actions.changeTimes },
    { keys: 'w', label: 'Wrap long rows of the log', run: actions.toggleWrap },
    { keys: 'o', label: 'Open or close this group of the log', run: actions.toggleGroup },
    { keys: 'O', label: 'Open or close all groups of the log', run: actions.toggleAllGroups },
    { keys: 'l', label: 'Go to a row of the log', run: actions.askRow },
    { keys: 'y', label: 'Copy a link to this place of the log', run: actions.copyLink },
  ])
  useEffect(() => {
    const element = view.current
    if (element === null) return
    const onKeyDown = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLInputElement
      const isFind = event.key.toLowerCase() === 'f' && (event.ctrlKey || event.metaKey) && !event.altKey
      if (isFind && !isTyping) {
        // Pressed again, with the field focused, it is the browser's.
        event.preventDefault()
        actions.find()
      }
      if (isTyping || event.ctrlKey !== event.metaKey) return
      if (event.key === 'Home' || event.key === 'End') {
        event.preventDefault()
        onEdge(event.key === 'Home' ? 'first' : 'last')
      }
    }
    element.addEventListener('keydown', onKeyDown)
    return () => element.removeEventListener('keydown', onKeyDown)
  })
}
