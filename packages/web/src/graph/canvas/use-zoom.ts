// Zoom and position of the graph. The browser scrolls; we scale what it scrolls over.
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { Rect } from '../layout/layout.ts'
import { listenToGestures } from '../zoom-gestures.ts'

const LEAST_ZOOM = 0.25
const MOST_ZOOM = 2
/** Names are readable at first. What does not fit is found by scrolling. */
const leastAtFirst = 0.7
/** Around the graph, in pixels of the screen. */
export const MARGIN = 24
/** The part in view is known in blocks of this size, so that most scrolling renders nothing. */
const block = 256

interface Zoom {
  zoom: number
  scroller: HTMLElement | null
  setScroller: (element: HTMLElement | null) => void
  /** The part to render, in the coordinates of the graph. */
  view: Rect
  zoomBy: (factor: number) => void
  fit: () => void
  reveal: (rect: Rect) => void
}

/** `start` is what the first view shows. */
export function useZoom(size: { width: number; height: number } | null, start: Rect | null): Zoom {
  const [scroller, setScroller] = useState<HTMLElement | null>(null)
  const [zoom, setZoom] = useState(1)
  const [view, setView] = useState<Rect>({ x: 0, y: 0, width: 2 * block, height: 2 * block })
  const current = useRef({ zoom: 1, size, start, hasFitted: false })
  const scrollAfter = useRef<{ left: number; top: number } | null>(null)

  const measure = useCallback(() => {
    if (scroller === null) return
    const scale = current.current.zoom
    const snap = (from: number, length: number) => {
      const start = Math.floor((from - MARGIN) / scale / block - 1) * block
      return [start, Math.ceil((from + length) / scale / block + 1) * block - start] as const
    }
    const [x, w] = snap(scroller.scrollLeft, scroller.clientWidth)
    const [y, h] = snap(scroller.scrollTop, scroller.clientHeight)
    setView((now) =>
      now.x === x && now.y === y && now.width === w && now.height === h ? now : { x, y, width: w, height: h },
    )
  }, [scroller])

  /** The point of the graph under `at`, in pixels from the corner of the scroller, stays there. */
  const zoomTo = useCallback(
    (wanted: number, at?: { x: number; y: number }) => {
      if (scroller === null) return
      const before = current.current.zoom
      const next = Math.min(MOST_ZOOM, Math.max(LEAST_ZOOM, wanted))
      const { x, y } = at ?? { x: scroller.clientWidth / 2, y: scroller.clientHeight / 2 }
      const stay = (scrolled: number, offset: number) =>
        ((scrolled + offset - MARGIN) / before) * next + MARGIN - offset
      scrollAfter.current = { left: stay(scroller.scrollLeft, x), top: stay(scroller.scrollTop, y) }
      current.current.zoom = next
      setZoom(next)
      measure()
    },
    [scroller, measure],
  )

  const fitWithin = useCallback(
    (least: number) => {
      const whole = current.current.size
      if (scroller === null || whole === null) return
      const room = (length: number) => length - 2 * MARGIN
      const scale = Math.min(
        1,
        room(scroller.clientWidth) / whole.width,
        room(scroller.clientHeight) / whole.height,
      )
      const next = Math.max(least, scale)
      zoomTo(next)
      const { x, y, width, height } = current.current.start ?? { x: 0, y: 0, width: 0, height: 0 }
      scrollAfter.current = {
        left: (x + width / 2) * next + MARGIN - scroller.clientWidth / 2,
        top: (y + height / 2) * next + MARGIN - scroller.clientHeight / 2,
      }
    },
    [scroller, zoomTo],
  )

  useLayoutEffect(() => {
    current.current.size = size
    current.current.start = start
    if (scrollAfter.current !== null) scroller?.scrollTo(scrollAfter.current)
    scrollAfter.current = null
  })

  useEffect(() => {
    if (scroller === null || size === null) return
    const observer = new ResizeObserver(() => {
      measure()
      if (current.current.hasFitted || scroller.clientWidth === 0) return
      current.current.hasFitted = true
      fitWithin(leastAtFirst)
    })
    observer.observe(scroller)
    scroller.addEventListener('scroll', measure, { passive: true })
    const stop = listenToGestures(scroller, (factor, at) => zoomTo(current.current.zoom * factor, at))
    return () => {
      observer.disconnect()
      scroller.removeEventListener('scroll', measure)
      stop()
    }
  }, [scroller, size, measure, zoomTo, fitWithin])

  const reveal = useCallback(
    (rect: Rect) => {
      if (scroller === null) return
      const scale = current.current.zoom
      const shift = (scrolled: number, room: number, from: number, length: number) => {
        const start = from * scale + MARGIN
        const end = start + length * scale
        if (start < scrolled + MARGIN) return start - 2 * MARGIN
        return end > scrolled + room - MARGIN ? end - room + 2 * MARGIN : scrolled
      }
      scroller.scrollTo({
        left: shift(scroller.scrollLeft, scroller.clientWidth, rect.x, rect.width),
        top: shift(scroller.scrollTop, scroller.clientHeight, rect.y, rect.height),
      })
    },
    [scroller],
  )
  return {
    zoom,
    scroller,
    setScroller,
    view,
    zoomBy: (factor) => zoomTo(zoom * factor),
    fit: () => fitWithin(LEAST_ZOOM),
    reveal,
  }
}
