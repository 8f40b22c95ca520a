import { useEffect, useRef } from 'react'
import type { Schemas } from '../../api/operations.ts'
import { stateLook } from '../../parts/state-badge/states.ts'
import { announce } from '../../parts/announce.ts'

/** Tells screen readers when the state of the build changes. */
export function useAnnouncedState({ number, state, blocked }: Schemas['Build']): void {
  const { label } = stateLook('build', state, { blocked })
  const last = useRef(label)
  useEffect(() => {
    if (last.current === label) return
    last.current = label
    announce(`Build ${number}: ${label}`)
  }, [number, label])
}
