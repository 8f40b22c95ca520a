import { useEffect, useRef } from 'react'
import type { Insights } from './words.ts'
import styles from './JobChart.module.css'

/** A picture of numbers that stand beside it, so a screen reader skips it. */
export function JobChart({ insights }: { insights: Insights }) {
  const host = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = host.current
    if (element === null) return
    let remove = () => {}
    let isOver = false
    void import('./draw-jobs.ts').then(({ drawJobs }) => {
      if (!isOver) remove = drawJobs(element, insights)
    })
    return () => {
      isOver = true
      remove()
    }
  }, [insights])
  return <div ref={host} className={styles.chart} aria-hidden="true" />
}

/** What the bars and the line are. */
export const JobLegend = ({ unit }: { unit: string }) => (
  <figcaption className={styles.legend}>
    <span className={styles.ended}>Jobs that ended, by {unit}</span>
    <span className={styles.failed}>those that failed</span>
    <span className={styles.wait}>Wait, median, scale on the right</span>
  </figcaption>
)
