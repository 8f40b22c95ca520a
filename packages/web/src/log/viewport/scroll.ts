// Scrolling of any height. Browsers cap the height of an element at some ten million pixels, so the element that makes the
// scrollbar is at most 8,000,000 pixels high. In a higher log the thumb maps by scale. Small movements (wheel, keys, touch)
// move the log by as many pixels as the browser scrolls: `top` and the browser's `scrollTop` drift apart, and `alignThumb`
// brings `scrollTop` back to where the scale puts it when the movement has ended.

export const mostSpacer = 8_000_000
/** Both ends of a scaled log have this many unscaled pixels, so that small movements reach the very first and last row. */
const mostUnscaled = 20_000

export interface ScrollState {
  /** Height of the whole log in pixels. */
  height: number
  /** Height of the window on it. */
  view: number
  /** The first pixel shown. */
  top: number
  /** The position of the browser's scrollbar. */
  scrollTop: number
}

export const spacerOf = (height: number): number => Math.min(height, mostSpacer)

export const mostTop = ({ height, view }: ScrollState): number => Math.max(0, height - view)
const mostScrollTop = ({ height, view }: ScrollState) => Math.max(0, spacerOf(height) - view)
const isScaled = ({ height }: ScrollState) => height > mostSpacer

/** The cause of a scroll. The thumb of a scrollbar, a jump and the end of a fling do not tell. */
type ScrollCause = 'wheel' | 'unknown'

/** The browser scrolled. */
export function scrolled(state: ScrollState, scrollTop: number, cause: ScrollCause): ScrollState {
  if (!isScaled(state)) return { ...state, scrollTop, top: clamp(scrollTop, mostTop(state)) }
  const moved = scrollTop - state.scrollTop
  // A pixel of the thumb's way moves the element by much more than this; a key or a fling moves it by less.
  const isThumb = cause === 'unknown' && Math.abs(moved) > mostScrollTop(state) / state.view / 4
  if (isThumb) return { ...state, scrollTop, top: topAt(state, scrollTop) }
  const next = { ...state, scrollTop, top: clamp(state.top + moved, mostTop(state)) }
  return isAtAnEnd(next) ? alignThumb(next) : next
}

/** Moves the log to a pixel. */
export const moveTo = (state: ScrollState, top: number): ScrollState =>
  alignThumb({ ...state, top: clamp(top, mostTop(state)) })

/** Puts the scrollbar where the scale wants it. */
export const alignThumb = (state: ScrollState): ScrollState => ({ ...state, scrollTop: scrollTopAt(state) })

/** The browser can scroll no further although the log does, or the other way round. */
function isAtAnEnd(state: ScrollState): boolean {
  return (
    state.scrollTop <= 0 ||
    state.scrollTop >= mostScrollTop(state) ||
    state.top <= 0 ||
    state.top >= mostTop(state)
  )
}

function topAt(state: ScrollState, scrollTop: number): number {
  const fromEnd = mostScrollTop(state) - scrollTop
  if (scrollTop <= mostUnscaled) return Math.max(0, scrollTop)
  if (fromEnd <= mostUnscaled) return mostTop(state) - Math.max(0, fromEnd)
  return mostUnscaled + (scrollTop - mostUnscaled) * scaleOf(state)
}

function scrollTopAt(state: ScrollState): number {
  if (!isScaled(state)) return state.top
  const fromEnd = mostTop(state) - state.top
  if (state.top <= mostUnscaled) return state.top
  if (fromEnd <= mostUnscaled) return mostScrollTop(state) - fromEnd
  return mostUnscaled + Math.round((state.top - mostUnscaled) / scaleOf(state))
}

/** Pixels of the log for one pixel of the scrollbar between the unscaled ends. */
const scaleOf = (state: ScrollState) =>
  (mostTop(state) - 2 * mostUnscaled) / (mostScrollTop(state) - 2 * mostUnscaled)

const clamp = (value: number, most: number) => Math.min(Math.max(value, 0), most)
