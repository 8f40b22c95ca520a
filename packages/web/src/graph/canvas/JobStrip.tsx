import { useEffect, useState, type MouseEvent } from 'react'
import { BUCKET_TONES } from '../jobs/buckets.ts'
import type { Job } from '../jobs/job.ts'
import styles from './StepJobs.module.css'
import { onThemeOrWidth, readToneColors } from '../../parts/state-badge/tone-colors.ts'

/** A job takes a square of this size, in pixels. */
const cell = 8

interface Props {
  jobs: readonly Job[]
  onSelect: (jobId: string) => void
}

/** All jobs of a step at a glance, in the order of the pipeline. The list below says the same in words. */
export function JobStrip({ jobs, onSelect }: Props) {
  const [box, setBox] = useState<HTMLDivElement | null>(null)

  useEffect(() => {
    const canvas = box?.querySelector('canvas') ?? null
    if (box === null || canvas === null) return
    return onThemeOrWidth(box, () => {
      const columns = Math.max(1, Math.floor(box.clientWidth / cell))
      const scale = window.devicePixelRatio
      const height = Math.ceil(jobs.length / columns) * cell
      canvas.width = box.clientWidth * scale
      canvas.height = height * scale
      canvas.style.height = `${height}px`
      const context = canvas.getContext('2d')
      if (context === null) return
      const colors = readToneColors(box)
      context.scale(scale, scale)
      for (const [at, job] of jobs.entries()) {
        context.fillStyle = colors[BUCKET_TONES[job.bucket]]
        // A failure fills its square, so that it differs without colour too.
        const size = job.bucket === 'failed' ? cell - 1 : cell - 3
        context.fillRect(
          (at % columns) * cell,
          Math.floor(at / columns) * cell + (cell - 1 - size),
          size,
          size,
        )
      }
    })
  }, [box, jobs])

  const selectAt = ({ nativeEvent: { offsetX, offsetY } }: MouseEvent) => {
    const columns = Math.max(1, Math.floor((box?.clientWidth ?? cell) / cell))
    const job = jobs[Math.floor(offsetY / cell) * columns + Math.floor(offsetX / cell)]
    if (job !== undefined) onSelect(job.id)
  }
  return (
    <div className={styles.strip} ref={setBox} aria-hidden="true">
      <canvas onClick={selectAt} />
    </div>
  )
}
