import { useEffect, useRef } from 'react'
import type { Schemas } from '../../api/operations.ts'
import { stateLook, titleOf } from '../../parts/state-badge/states.ts'
import { detailOf } from '../builds/build-facts.ts'
import { announce } from '../../parts/announce.ts'

/** Tells screen readers when the state of the build changes. */
export function useAnnouncedState(build: Schemas['Build']): void {
  const { number } = build
  const label = titleOf(stateLook('build', build.state, detailOf(build)))
  const last = useRef(label)
  useEffect(() => {
    if (last.current === label) return
    last.current = label
    announce(`Build ${number}: ${label}`)
  }, [number, label])
}
