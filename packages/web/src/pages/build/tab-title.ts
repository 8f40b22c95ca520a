// The title and the icon of the browser's tab tell the state of the build.
import { useEffect } from 'react'
import type { Schemas } from '../../api/operations.ts'
import { detailOf } from '../builds/build-facts.ts'
import { readToneColors } from '../../parts/state-badge/tone-colors.ts'
import { stateLook, type Tone } from '../../parts/state-badge/states.ts'

type Build = Pick<Schemas['Build'], 'state' | 'blocked' | 'failing_at' | 'number'>

const marks: Record<Tone, string> = {
  passed: '✓',
  failed: '✗',
  running: '●',
  warn: '!',
  blocked: '◆',
  idle: '○',
}

/** A failure counts more than that the build is blocked. */
function toneOf(build: Build): Tone {
  const { tone, hasFailed } = stateLook('build', build.state, detailOf(build))
  return hasFailed === true ? 'failed' : tone
}

/** `✗ #1204 demo` */
export const tabTitle = (build: Build, pipeline: string): string =>
  `${marks[toneOf(build)]} #${build.number} ${pipeline}`

const shapes: Record<Tone, string> = {
  passed: 'M4.5 8.5l2.5 2.5 5-5.5',
  failed: 'M5 5l6 6M11 5l-6 6',
  running: 'M8 4.5v4l2.5 1.5',
  warn: 'M8 4v5M8 11.5v.5',
  blocked: 'M6 5v6M10 5v6',
  idle: 'M5 8h6',
}

export function useStateIcon(build: Build): void {
  const tone = toneOf(build)
  useEffect(() => {
    const link = document.querySelector<HTMLLinkElement>('link[rel=icon]')
    if (link === null) return
    const before = link.href
    const color = readToneColors(document.body)[tone]
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="8" fill="${color}"/><path d="${shapes[tone]}" fill="none" stroke="white" stroke-width="2" stroke-linecap="round"/></svg>`
    link.href = `data:image/svg+xml,${encodeURIComponent(svg)}`
    return () => {
      link.href = before
    }
  }, [tone])
}
