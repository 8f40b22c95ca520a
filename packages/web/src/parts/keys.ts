// Keyboard shortcuts. Letters do not count while somebody types, and can be turned off.
import { useEffect, useRef } from 'react'

export interface KeyAction {
  /** As typed: `f`, `F`, `?`, `[`, `g p` for two keys, `mod+k` for ⌘ or Ctrl. */
  keys: string
  label: string
  /** The page that it leads to. */
  to?: string
  run: () => void
  /** Otherwise the key is the browser's. */
  when?: () => boolean
}

const isApple = /Mac OS X|iPhone|iPad/.test(navigator.userAgent)

/** `⌘K` on a Mac, `Ctrl K` elsewhere. */
export const showKeys = (keys: string): string =>
  (arrows[keys] ?? keys).replace(
    /mod\+(\w)/,
    (_, key: string) => `${isApple ? '⌘' : 'Ctrl '}${key.toUpperCase()}`,
  )

const arrows: Readonly<Record<string, string>> = {
  ArrowDown: '↓',
  ArrowUp: '↑',
  ArrowRight: '→',
  ArrowLeft: '←',
}

const registered = new Set<{ current: readonly KeyAction[] }>()
const sequenceMs = 1000
let first: { key: string; atMs: number } | null = null

/** The actions of what is on screen, for the list of keys and the palette. */
export function listKeyActions(): KeyAction[] {
  const all = [...registered].flatMap(({ current }) => [...current])
  // Two lists on a page have the same keys.
  return all.filter(
    ({ keys, label }, at) => all.findLastIndex((each) => each.keys === keys && each.label === label) === at,
  )
}

/** Later registrations win, so a panel may take over a key of its page. */
export function useKeys(actions: readonly KeyAction[]): void {
  const latest = useRef(actions)
  useEffect(() => {
    latest.current = actions
  })
  useEffect(() => {
    registered.add(latest)
    return () => {
      registered.delete(latest)
    }
  }, [])
}

const setting = 'millrace.letters'
export const areLettersOn = (): boolean => localStorage.getItem(setting) !== 'off'
export const setLetters = (areOn: boolean): void => localStorage.setItem(setting, areOn ? 'on' : 'off')

function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) return
  const isModified = event.ctrlKey || event.metaKey || event.altKey
  if (isModified) {
    const isMod = (event.ctrlKey || event.metaKey) && !event.altKey
    if (isMod) runFirst(event, `mod+${event.key.toLowerCase()}`)
    return
  }
  // Outside of a shadow root, such as the editor's, the target is its host.
  if (
    isTyping(event.composedPath()[0] ?? null) ||
    document.querySelector('[role=dialog]:not([hidden])') !== null
  )
    return
  const isLetter = /^[a-z]$/i.test(event.key)
  if (isLetter && !areLettersOn()) return
  const before = first !== null && event.timeStamp - first.atMs < sequenceMs ? first.key : null
  first = { key: event.key, atMs: event.timeStamp }
  if (before !== null && runFirst(event, `${before} ${event.key}`)) {
    first = null
    return
  }
  runFirst(event, event.key)
}

function runFirst(event: KeyboardEvent, keys: string): boolean {
  const action = listKeyActions().findLast((each) => each.keys === keys && each.when?.() !== false)
  if (action === undefined) return false
  event.preventDefault()
  action.run()
  return true
}

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

window.addEventListener('keydown', onKeyDown)
