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
    const onKeyDown = (event: KeyboardEvent) => {
      const isElsewhere = event.target !== document.body && !view.current?.contains(event.target as Node)
      const isTyping = event.target instanceof HTMLInputElement
      if (isElsewhere || isTyping || event.altKey) return
      const isCommand = event.ctrlKey || event.metaKey
      if (isCommand && event.key.toLowerCase() === 'f') {
        // Pressed again, with the field focused, it is the browser's.
        event.preventDefault()
        actions.find()
      }
      if (!isCommand && (event.key === 'Home' || event.key === 'End')) {
        event.preventDefault()
        onEdge(event.key === 'Home' ? 'first' : 'last')
      }
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  })
}
