// The selected job and its selected rows are in the fragment of the address: `#{job}/L5-L9`.
import { useLocation, useNavigate } from '@tanstack/react-router'
import { useCallback } from 'react'
import { formatFragment, readFragment, type Lines } from '../../log/selection.ts'

export interface Selection {
  job: string | null
  lines: Lines | null
  /** With `isQuiet`, the way back does not lead through it. */
  select: (job: string | null, options?: { lines?: Lines | null; isQuiet?: boolean }) => void
}

export function useSelection(): Selection {
  const hash = useLocation({ select: ({ hash }) => hash })
  const navigate = useNavigate()
  const select = useCallback<Selection['select']>(
    (job, { lines = null, isQuiet = false } = {}) =>
      void navigate({
        to: '.',
        search: true,
        hash: job === null ? '' : formatFragment(job, lines).slice(1),
        replace: isQuiet,
        resetScroll: false,
        hashScrollIntoView: false,
      }),
    [navigate],
  )
  const fragment = readFragment(hash)
  return { job: fragment?.job ?? null, lines: fragment?.lines ?? null, select }
}
