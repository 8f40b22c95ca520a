// Never loses the focus. When the element that has it goes away, or a dialog closes, the focus moves to what the reader can go on
// from: the control that opened the dialog, the next row of a list, or the heading of the page. After a navigation it is on the
// heading. Parts of pages need not care.
import { rowControl, rowSelector } from '../parts/list-keys.ts'

/** What is shown above a page and returns to it. */
const overlaySelector = '[role=dialog], [role=alertdialog], [role=menu], [data-part=toasts]'
const focusable = 'input, textarea, select, a[href], button'

/** Where an element is, noted while it has the focus: afterwards it may be gone. */
interface Place {
  overlay: Element | null
  /** Of rows. */
  list: Element | null
  index: number
}

const places = new WeakMap<Element, Place>()
/** What had the focus before it went into the overlay. */
const openers = new WeakMap<Element, HTMLElement>()
/** What has the focus, or had it last and did not give it up by an act of the reader. */
let last: HTMLElement | null = null
let isDue = false

/** Returns the function that ends it. */
export function keepFocus(): () => void {
  const ended = new AbortController()
  const { signal } = ended
  document.addEventListener('focusin', ({ target }) => target instanceof HTMLElement && note(target), {
    signal,
  })
  document.addEventListener('focusout', ({ relatedTarget }) => relatedTarget === null && forgetSoon(), {
    signal,
  })
  const observer = new MutationObserver(check)
  observer.observe(document.body, {
    subtree: true,
    childList: true,
    attributeFilter: ['disabled', 'inert', 'hidden'],
  })
  return () => {
    ended.abort()
    observer.disconnect()
  }
}

const isNowhere = () => document.activeElement === null || document.activeElement === document.body

function note(element: HTMLElement): void {
  const overlay = element.closest(overlaySelector)
  if (overlay !== null && last !== null && !overlay.contains(last) && !openers.has(overlay))
    openers.set(overlay, last)
  const row = element.closest(rowSelector)
  const list = row?.parentElement ?? null
  const index = row === null || list === null ? 0 : [...list.querySelectorAll(rowSelector)].indexOf(row)
  places.set(element, { overlay, list, index })
  last = element
}

/** Somebody who clicks beside everything wants the focus nowhere. */
function forgetSoon(): void {
  const left = last
  requestAnimationFrame(() => {
    if (last === left && left !== null && isNowhere() && isUsable(left)) last = null
  })
}

function check(): void {
  if (isDue || last === null || !isNowhere()) return
  isDue = true
  // Whatever opens meanwhile takes the focus first.
  requestAnimationFrame(() => {
    isDue = false
    if (last !== null && isNowhere()) giveTo(last)
  })
}

/** A button that is off while its request is under way gets the focus back when it is on again. */
function giveTo(lost: HTMLElement): void {
  if (lost.isConnected && lost.matches(':disabled')) return
  for (const candidate of candidatesAfter(lost)) {
    candidate.focus({ preventScroll: true })
    if (document.activeElement === candidate) return
  }
}

function* candidatesAfter(lost: HTMLElement): Generator<HTMLElement> {
  if (isUsable(lost)) yield lost
  const place = places.get(lost)
  if (place?.list?.isConnected === true) yield* controlsNear(place.list, place.index)
  const overlay = place?.overlay ?? null
  if (overlay !== null && overlay.isConnected) {
    for (const control of overlay.querySelectorAll<HTMLElement>(focusable))
      if (isUsable(control)) yield control
  }
  const opener = overlay === null ? undefined : openers.get(overlay)
  if (opener !== undefined) yield* candidatesAfter(opener)
  else yield* headings()
}

/** That of the row which is now where the lost one was, or of the nearest after or before it. */
function* controlsNear(list: Element, index: number): Generator<HTMLElement> {
  const rows = [...list.querySelectorAll(rowSelector)]
  for (const row of [...rows.slice(index), ...rows.slice(0, index).toReversed()]) {
    const control = rowControl(row)
    if (control !== null && isUsable(control)) yield control
  }
}

const headings = () => document.querySelectorAll<HTMLElement>('main h1')

const isUsable = (element: HTMLElement) =>
  element.isConnected && !element.matches(':disabled') && element.checkVisibility()

/**
 * After a navigation: `before` had the focus when it began. What the new page has chosen itself, and what is open above it, keep the
 * focus. While the page has no heading yet, the focus is nowhere and goes there when it comes.
 */
export function focusPage(before: Element | null): void {
  const { activeElement } = document
  if (activeElement !== before && !isNowhere()) return
  if (activeElement?.closest(overlaySelector)) return
  const [heading] = headings()
  if (heading !== undefined) return heading.focus({ preventScroll: true })
  // The heading takes the focus when it comes, if nothing else has it.
  last = null
  if (activeElement instanceof HTMLElement) activeElement.blur()
}
