import { useLayoutEffect, useState, type CSSProperties, type RefObject } from 'react'
import type { TimeForm } from './times.ts'
import type { Viewport } from '../viewport/viewport.ts'

interface Input {
  viewport: Viewport
  scroller: RefObject<HTMLElement | null>
  /** An element of 100 characters. */
  probe: RefObject<HTMLElement | null>
  digits: number
  times: TimeForm
  isWrapped: boolean
  /** Cells of the widest row. */
  widest: number
}

/** Space beside the text: 16 px of the number, 8 px of the time, 8 px before and 12 px behind the text. */
const besideNumber = 16
const besideTime = 8
const besideText = 20

const timeCells: Record<TimeForm, number> = { off: 0, absolute: 12, 'since start': 7, delta: 8 }

/** Measures the window and one character; everything else is computed. Returns the sizes as CSS variables. */
export function useColumns({
  viewport,
  scroller,
  probe,
  digits,
  times,
  isWrapped,
  widest,
}: Input): CSSProperties {
  const [size, setSize] = useState({ width: 0, cell: 7.2 })
  useLayoutEffect(() => {
    const [outer, character] = [scroller.current, probe.current]
    if (outer === null || character === null) return
    const measure = () =>
      setSize((before) => {
        const next = { width: outer.clientWidth, cell: character.getBoundingClientRect().width / 100 }
        return next.width === before.width && next.cell === before.cell ? before : next
      })
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(outer)
    observer.observe(character)
    return () => observer.disconnect()
  }, [scroller, probe])

  const timeWidth = times === 'off' ? 0 : timeCells[times] * size.cell + besideTime
  const beside = digits * size.cell + besideNumber + timeWidth + besideText
  const columns = Math.max(10, Math.floor((size.width - beside) / size.cell))
  const wrapAt = isWrapped && size.width > 0 ? columns : null
  useLayoutEffect(() => viewport.setColumns(wrapAt), [viewport, wrapAt])

  return {
    '--digits': digits,
    '--columns': columns,
    '--time-width': `${timeWidth}px`,
    '--view-width': `${size.width}px`,
    '--text-width': `${isWrapped ? 0 : Math.ceil(beside + widest * size.cell)}px`,
  } as CSSProperties
}
