import { useEffect, useRef } from 'react'
import type { Metrics } from './queries.ts'
import styles from './QueueChart.module.css'

/** The last hour: an area of waiting jobs, and a line of busy agents. */
export function QueueChart({ points }: { points: Metrics['points'] }) {
  const host = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = host.current
    if (element === null || points.length === 0) return
    let destroy = () => {}
    let isOver = false
    void import('./draw-chart.ts').then(({ drawChart }) => {
      if (!isOver) destroy = drawChart(element, points)
    })
    return () => {
      isOver = true
      destroy()
    }
  }, [points])
  const most = Math.max(0, ...points.map(([, waiting = 0]) => waiting))
  return (
    <figure className={`card ${styles.figure}`}>
      <div ref={host} className={styles.chart} aria-hidden="true" />
      <figcaption className={styles.caption}>
        <span className={styles.waiting}>Waiting jobs, scale on the left</span>
        <span className={styles.busy}>Busy agents, scale on the right</span>
        <span className="visually-hidden"> in the last 60 minutes; at most {most} jobs waited.</span>
      </figcaption>
    </figure>
  )
}
