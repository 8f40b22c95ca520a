import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { NotLoaded } from '../../parts/States.tsx'
import { imageLogQuery, type ImageAddress } from '../agent-images/queries.ts'
import styles from './BuildLog.module.css'

/** What the builder has said of the latest attempt. It follows the end while the image is being built. */
export function BuildLog({ address, isGrowing }: { address: ImageAddress; isGrowing: boolean }) {
  const log = useQuery(imageLogQuery(address, isGrowing))
  const view = useRef<HTMLPreElement>(null)
  const content = log.data?.content ?? ''
  useEffect(() => {
    if (isGrowing && content !== '' && view.current !== null)
      view.current.scrollTop = view.current.scrollHeight
  }, [content, isGrowing])
  if (log.data === undefined) return <NotLoaded query={log} rows={3} />
  if (content === '')
    return (
      <p className="muted">{isGrowing ? 'The builder has not said anything yet.' : 'There is no log.'}</p>
    )
  return (
    <pre
      ref={view}
      className={`card ${styles.log}`}
      // Whoever has no pointer scrolls it with the arrow keys.
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      role="log"
      aria-live="off"
      aria-label="Log of the build"
    >
      {content}
    </pre>
  )
}
