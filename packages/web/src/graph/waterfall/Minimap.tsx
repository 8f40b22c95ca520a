import { useEffect, useRef, useState, type PointerEvent } from 'react'
import type { FoldedTime } from './folded-time.ts'
import { spansOf } from './job-spans.ts'
import type { Job } from '../jobs/job.ts'
import type { Timescale } from './timescale.ts'
import { onThemeOrWidth, readToneColors } from '../../parts/state-badge/tone-colors.ts'
import styles from './Waterfall.module.css'

const betweenDrawingsMs = 500

interface Props {
  jobs: readonly Job[]
  time: FoldedTime
  lengthMs: number
  timescale: Timescale
}

/** All jobs at once. Pointing at a place scrolls to it; the keyboard scrolls the rows themselves. */
export function Minimap({ jobs, time, lengthMs, timescale }: Props) {
  const [box, setBox] = useState<HTMLDivElement | null>(null)
  const { setWindow } = timescale
  const drawn = useRef({ atMs: 0, again: () => {} })

  useEffect(() => {
    if (box === null) return
    drawn.current.again = () => {
      drawn.current.atMs = performance.now()
      draw(box, jobs, time, lengthMs)
    }
    const waitMs = Math.max(0, drawn.current.atMs + betweenDrawingsMs - performance.now())
    const timer = setTimeout(drawn.current.again, waitMs)
    return () => clearTimeout(timer)
  }, [box, jobs, time, lengthMs])

  useEffect(() => {
    if (box === null) return
    return onThemeOrWidth(box, () => drawn.current.again())
  }, [box])

  const scroll = (event: PointerEvent) => {
    if (event.buttons !== 1 || box === null) return
    const { left, top, width, height } = box.getBoundingClientRect()
    timescale.scrollTo((event.clientX - left) / width, (event.clientY - top) / height)
  }
  return (
    <div
      className={styles.minimap}
      ref={setBox}
      onPointerDown={scroll}
      onPointerMove={scroll}
      aria-hidden="true"
    >
      <canvas />
      <span className={styles.window} ref={setWindow} />
    </div>
  )
}

function draw(box: HTMLElement, jobs: readonly Job[], time: FoldedTime, lengthMs: number): void {
  const canvas = box.querySelector('canvas')
  const context = canvas?.getContext('2d') ?? null
  if (canvas === null || context === null) return
  const scale = window.devicePixelRatio
  const [width, height] = [box.clientWidth, box.clientHeight]
  canvas.width = width * scale
  canvas.height = height * scale
  context.scale(scale, scale)
  const colors = readToneColors(box)
  const xOf = (timeMs: number) => (time.at(timeMs) / lengthMs) * width
  const rowHeight = height / Math.max(1, jobs.length)
  // Thousands of rows share a pixel, so failures are drawn last.
  for (const isFailure of [false, true]) {
    for (const [at, job] of jobs.entries()) {
      if ((job.bucket === 'failed') !== isFailure) continue
      for (const { kind, fromMs, toMs } of spansOf(job)) {
        context.fillStyle = kind === 'running' ? colors[job.look.tone] : colors.border
        const from = xOf(fromMs)
        const size = Math.max(1, (toMs === null ? width : xOf(toMs)) - from)
        context.fillRect(from, at * rowHeight, size, Math.max(1, Math.min(4, rowHeight * 0.8)))
      }
    }
  }
}
