import type { UseInfiniteQueryResult, InfiniteData } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Page } from '../../api/call.ts'
import type { Schemas } from '../../api/operations.ts'
import { Button } from '../../parts/Button.tsx'
import { useListKeys } from '../../parts/list-keys.ts'
import { Empty, Loading, Problem } from '../../parts/States.tsx'
import { BuildHeadings, BuildRow } from './BuildRow.tsx'
import styles from './BuildList.module.css'

interface Props {
  org: string
  builds: UseInfiniteQueryResult<InfiniteData<Page<Schemas['Build']>>>
  withPipeline: boolean
  isFiltered: boolean
  onClearFilters: () => void
  /** Shown where there is no build at all. */
  empty: ReactNode
}

export function BuildList({ org, builds, withPipeline, isFiltered, onClearFilters, empty }: Props) {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = builds
  useListKeys()
  const rows = data?.pages.flatMap((page) => page.rows)
  if (rows === undefined) {
    return error === null ? <Loading look="list" /> : <Problem error={error} onRetry={() => void refetch()} />
  }
  if (rows.length === 0 && isFiltered) {
    return (
      <Empty
        title="No build matches these filters."
        action={<Button onClick={onClearFilters}>Clear filters</Button>}
      />
    )
  }
  if (rows.length === 0) return empty
  return (
    <>
      <div className={`card ${styles.list} ${withPipeline ? styles.withPipelines : ''}`}>
        <BuildHeadings withPipeline={withPipeline} />
        <ul aria-label="Builds" data-frozen-on-hover>
          {rows.map((build) => (
            <BuildRow key={build.id} org={org} build={build} withPipeline={withPipeline} />
          ))}
        </ul>
      </div>
      {hasNextPage && (
        <Button isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()} className={styles.more}>
          Show older builds
        </Button>
      )}
    </>
  )
}
