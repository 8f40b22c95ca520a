import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useLayoutEffect, useMemo, useRef, useState } from 'react'
import { annotationAnchor, type BuildAddress } from '../../../api/addresses.ts'
import type { Schemas } from '../../../api/operations.ts'
import { Button } from '../../../parts/Button.tsx'
import { Icon } from '../../../parts/Icon.tsx'
import type { IconName } from '../../../parts/icon-names.ts'
import { toneClass } from '../../../parts/state-badge/StateBadge.tsx'
import type { Tone } from '../../../parts/state-badge/states.ts'
import { Empty, NotLoaded, ShowMore } from '../../../parts/States.tsx'
import { Time } from '../../../parts/time/Time.tsx'
import { renderAnnotation } from './annotation-nodes.ts'
import { artifactLinksQuery, namesArtifacts, noLinks, type ArtifactLinks } from './artifact-links.ts'
import { annotationsQuery } from '../queries.ts'
import styles from './Annotations.module.css'

type Annotation = Schemas['Annotation']

const looks: Record<NonNullable<Annotation['style']> | 'none', { icon: IconName; tone: Tone }> = {
  success: { icon: 'circle-check', tone: 'passed' },
  info: { icon: 'info', tone: 'idle' },
  warning: { icon: 'triangle-alert', tone: 'warn' },
  error: { icon: 'circle-x', tone: 'failed' },
  none: { icon: 'message-square', tone: 'idle' },
}

export function Annotations({ address, isRunning }: { address: BuildAddress; isRunning: boolean }) {
  const list = useInfiniteQuery({
    ...annotationsQuery(address),
    refetchInterval: isRunning ? 10_000 : false,
  })
  const annotations = list.data?.pages.flatMap(({ rows }) => rows) ?? []
  const { data: links = noLinks } = useQuery({
    ...artifactLinksQuery(address),
    refetchInterval: isRunning ? 10_000 : false,
    enabled: annotations.some(({ body_html: html = '' }) => namesArtifacts(html)),
  })
  if (list.data === undefined) return <NotLoaded query={list} />
  if (annotations.length === 0) {
    return (
      <Empty title="No annotations">
        Jobs write them with <code>buildkite-agent annotate</code>, to tell what matters about a build.
      </Empty>
    )
  }
  return (
    <div className={styles.list}>
      {annotations.map((annotation) => (
        <AnnotationBox
          key={`${annotation.id} ${annotation.updated_at}`}
          annotation={annotation}
          links={links}
        />
      ))}
      <ShowMore list={list} />
    </div>
  )
}

function AnnotationBox({ annotation, links }: { annotation: Annotation; links: ArtifactLinks }) {
  const { style, context, body_html: html = '', updated_at: updatedAt } = annotation
  const { icon, tone } = looks[style ?? 'none']
  const content = useMemo(() => renderAnnotation(html, links), [html, links])
  const [isOpen, setOpen] = useState(false)
  const [isLong, setLong] = useState(false)
  const body = useRef<HTMLDivElement>(null)
  const anchor = annotationAnchor(annotation.id)
  const box = useRef<HTMLElement>(null)
  useLayoutEffect(() => {
    if (location.hash === `#${anchor}`) box.current?.scrollIntoView({ block: 'center' })
  }, [anchor])
  useLayoutEffect(() => {
    const element = body.current
    if (element !== null && !isOpen) setLong(element.scrollHeight > element.clientHeight + 1)
  }, [isOpen])
  return (
    <article
      ref={box}
      id={anchor}
      className={`card ${styles.annotation} ${toneClass(tone)}`}
      aria-label={`Annotation ${context}`}
    >
      <header className={styles.header}>
        <Icon name={icon} {...(style === null ? {} : { label: style })} />
        <span className={`truncated ${styles.context}`}>{context}</span>
        <Time at={updatedAt} />
      </header>
      <div ref={body} className={`prose ${styles.body} ${isOpen ? '' : styles.folded}`}>
        {content}
      </div>
      {(isLong || isOpen) && (
        <Button kind="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Show less' : 'Show all'}
        </Button>
      )}
    </article>
  )
}
