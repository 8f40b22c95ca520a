import type { UseInfiniteQueryResult, InfiniteData } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Page } from '../../../api/call.ts'
import type { Schemas } from '../../../api/operations.ts'
import { Icon } from '../../../parts/Icon.tsx'
import { StateBadge } from '../../../parts/state-badge/StateBadge.tsx'
import { Empty, NotLoaded, ShowMore } from '../../../parts/States.tsx'
import { formatSize } from './sizes.ts'
import styles from './ArtifactList.module.css'

type Artifact = Schemas['Artifact']

interface Props {
  list: UseInfiniteQueryResult<InfiniteData<Page<Artifact>>>
  empty: { title: string; hint?: string; action?: ReactNode }
  /** The job that uploaded it. */
  jobOf?: (artifact: Artifact) => ReactNode
}

export function ArtifactList({ list, empty, jobOf }: Props) {
  if (list.data === undefined) return <NotLoaded query={list} />
  const artifacts = list.data.pages.flatMap(({ rows }) => rows)
  if (artifacts.length === 0) {
    return (
      <Empty title={empty.title} action={empty.action}>
        {empty.hint}
      </Empty>
    )
  }
  return (
    <>
      <ul className={styles.list} data-frozen-on-hover>
        {artifacts.map((artifact) => (
          <li key={artifact.id} className={styles.row}>
            <ArtifactName artifact={artifact} />
            <span className="muted">{jobOf?.(artifact)}</span>
            {artifact.state !== 'finished' && <StateBadge kind="artifact" state={artifact.state} />}
            <span className={styles.size}>{formatSize(artifact.file_size)}</span>
          </li>
        ))}
      </ul>
      <ShowMore list={list} />
    </>
  )
}

/** See api/downloads.ts for what happens to the link. */
function ArtifactName({ artifact: { state, path, download_url: url } }: { artifact: Artifact }) {
  if (state !== 'finished') return <span className={styles.name}>{path}</span>
  return (
    <a href={new URL(url).pathname} download className={styles.name} title={path}>
      <Icon name="download" size={14} />
      {path}
    </a>
  )
}
