import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import type { BuildAddress } from '../../api/addresses.ts'
import type { Schemas } from '../../api/operations.ts'
import type { IconName } from '../../parts/icon-names.ts'
import { Icon } from '../../parts/Icon.tsx'
import { annotationCountQuery, artifactsQuery, testRunsQuery } from './queries.ts'
import {
  oneTab,
  sameBuild,
  tabs,
  views,
  withView,
  type BuildSearch,
  type TabName,
  type ViewName,
} from './search.ts'
import styles from './BuildTabs.module.css'

const viewLooks: Record<ViewName, [label: string, icon: IconName]> = {
  summary: ['Summary', 'list'],
  graph: ['Graph', 'workflow'],
  table: ['Table', 'table-2'],
  waterfall: ['Waterfall', 'chart-gantt'],
}

const tabNames: Record<TabName, string> = {
  failures: 'Failures',
  annotations: 'Annotations',
  artifacts: 'Artifacts',
  tests: 'Tests',
  environment: 'Environment',
  uploads: 'Steps uploaded',
  notifications: 'Notifications',
}

interface Props {
  address: BuildAddress
  build: Schemas['Build']
  search: BuildSearch
}

export function BuildTabs({ address, build, search }: Props) {
  const counts = useCounts(address)
  const { tab, view = 'summary' } = search
  const hasFailures = build.failing_at !== null || build.state === 'failed' || tab === 'failures'
  const shownTabs = tabs.filter((each) => each !== 'failures' || hasFailures)
  const nav = useRef<HTMLElement>(null)
  useEffect(() => {
    const current = nav.current?.querySelector(`[data-name=${tab ?? view}]`)
    current?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [tab, view])
  return (
    <nav ref={nav} aria-label="Views of the build" className={styles.tabs}>
      {views.map((each) => (
        <Link
          key={each}
          data-name={each}
          {...sameBuild}
          {...oneTab}
          search={(before) => withView(before, each)}
          className={styles.tab}
          aria-current={tab === undefined && view === each ? 'page' : undefined}
        >
          <Icon name={viewLooks[each][1]} size={14} />
          {viewLooks[each][0]}
        </Link>
      ))}
      <span className={styles.gap} />
      {shownTabs.map((each) => (
        <Link
          key={each}
          data-name={each}
          {...sameBuild}
          {...oneTab}
          search={(search) => ({ ...search, tab: each })}
          className={styles.tab}
          aria-current={tab === each ? 'page' : undefined}
        >
          {tabNames[each]}
          {counts[each] !== undefined && <span className={styles.count}>{counts[each]}</span>}
        </Link>
      ))}
    </nav>
  )
}

function useCounts(address: BuildAddress): Partial<Record<TabName, string>> {
  const annotations = useInfiniteQuery(annotationCountQuery(address)).data
  const artifacts = useInfiniteQuery(artifactsQuery(address)).data
  const tests = useInfiniteQuery(testRunsQuery(address)).data
  const failed = tests?.pages.flatMap(({ rows }) => rows).reduce((sum, run) => sum + run.failed_count, 0)
  return {
    ...countOf('annotations', annotations?.pages),
    ...countOf('artifacts', artifacts?.pages),
    ...(failed === undefined || failed === 0 ? {} : { tests: failed.toLocaleString() }),
  }
}

function countOf(tab: TabName, pages: ReadonlyArray<{ rows: readonly unknown[]; next: unknown }> = []) {
  const count = pages.reduce((sum, { rows }) => sum + rows.length, 0)
  if (count === 0) return {}
  const hasMore = pages.at(-1)?.next !== null
  return { [tab]: `${count.toLocaleString()}${hasMore ? '+' : ''}` }
}
