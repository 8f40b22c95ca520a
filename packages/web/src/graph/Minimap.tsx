import { useEffect, useRef, useState, type PointerEvent } from 'react'
import { spansOf } from './job-spans.ts'
import type { Job } from './job.ts'
import type { Timescale } from './timescale.ts'
import { onThemeOrWidth, readToneColors } from './tone-colors.ts'
import styles from './Waterfall.module.css'

const betweenDrawingsMs = 250

interface Props {
  jobs: readonly Job[]
  startMs: number
  endMs: number
  timescale: Timescale
}

/** All jobs at once. Pointing at a place scrolls to it; the keyboard scrolls the rows themselves. */
export function Minimap({ jobs, startMs, endMs, timescale }: Props) {
  const [box, setBox] = useState<HTMLDivElement | null>(null)
  const drawnMs = useRef(0)

  useEffect(() => {
    if (box === null) return
    const drawNow = () => {
      drawnMs.current = performance.now()
      draw(box, jobs, startMs, endMs)
    }
    const timer = setTimeout(drawNow, Math.max(0, drawnMs.current + betweenDrawingsMs - performance.now()))
    const stop = onThemeOrWidth(box, () => {
      if (performance.now() - drawnMs.current > betweenDrawingsMs) drawNow()
    })
    return () => {
      clearTimeout(timer)
      stop()
    }
  }, [box, jobs, startMs, endMs])

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
      <span className={styles.window} />
    </div>
  )
}

function draw(box: HTMLElement, jobs: readonly Job[], startMs: number, endMs: number): void {
  const canvas = box.querySelector('canvas')
  const context = canvas?.getContext('2d') ?? null
  if (canvas === null || context === null) return
  const scale = window.devicePixelRatio
  const [width, height] = [box.clientWidth, box.clientHeight]
  canvas.width = width * scale
  canvas.height = height * scale
  context.scale(scale, scale)
  const colors = readToneColors(box)
  const xOf = (timeMs: number) => ((timeMs - startMs) / (endMs - startMs)) * width
  const rowHeight = height / Math.max(1, jobs.length)
  for (const [at, job] of jobs.entries()) {
    for (const { kind, fromMs, toMs } of spansOf(job)) {
      context.fillStyle = kind === 'running' ? colors[job.look.tone] : colors.border
      const from = xOf(fromMs)
      const size = Math.max(1, xOf(toMs ?? endMs) - from)
      context.fillRect(from, at * rowHeight, size, Math.max(1, Math.min(4, rowHeight * 0.8)))
    }
  }
}
