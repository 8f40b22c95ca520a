// Below the header: a view or a tab of the build, and the panel of the selected job.
import { useRef, useState } from 'react'
import type { BuildAddress } from '../../api/addresses.ts'
import type { Schemas } from '../../api/operations.ts'
import type { JobTable } from '../../graph/jobs/job-table.ts'
import { useJobTable } from '../../graph/jobs/use-job-table.ts'
import { BuildContent } from './BuildContent.tsx'
import { JobPanel } from './job/JobPanel.tsx'
import { usePanelLayout } from './panel-layout.ts'
import type { BuildSearch } from './search.ts'
import { useSelection } from './selection.ts'
import { SplitPane } from './SplitPane.tsx'
import { useBuildKeys } from './use-build-keys.ts'
import { useFirstFailure } from './use-first-failure.ts'
import { usePhone, useWide } from '../../parts/use-media.ts'
import styles from './BuildWorkspace.module.css'

interface Props {
  address: BuildAddress
  build: Schemas['Build']
  table: JobTable
  search: BuildSearch
  mayBuild: boolean
}

export function BuildWorkspace({ address, build, table, search, mayBuild }: Props) {
  useJobTable(table)
  const selection = useSelection()
  const isWide = useWide()
  const isPhone = usePhone()
  const panelLayout = usePanelLayout()
  const [isFull, setFull] = useState(false)
  const workspace = useRef<HTMLDivElement>(null)
  const job = selection.job === null ? undefined : table.job(selection.job)
  const dock = isWide ? panelLayout.dock : 'bottom'
  useFirstFailure(table, selection, isPhone)
  useBuildKeys({
    address,
    table,
    selection,
    toggleDock: panelLayout.toggleDock,
    toggleFull: () => setFull(!isFull),
    workspace,
  })

  const content = (
    <BuildContent address={address} build={build} table={table} search={search} selection={selection} />
  )
  if (job === undefined) {
    return (
      <div ref={workspace} className={styles.alone}>
        {content}
      </div>
    )
  }
  const panel = (
    <JobPanel
      key={job.firstAttemptId}
      address={{ ...address, job: job.id }}
      build={build}
      job={job}
      table={table}
      tab={search.panel ?? 'log'}
      selection={selection}
      mayBuild={mayBuild}
      isFull={isFull || isPhone}
      canDock={isWide && !isFull}
      dock={dock}
      onDock={panelLayout.toggleDock}
      onFull={isPhone ? null : () => setFull(!isFull)}
      onClose={() => {
        setFull(false)
        selection.select(null)
      }}
    />
  )
  if (isFull || isPhone) {
    return (
      <div ref={workspace} className={styles.full}>
        {panel}
      </div>
    )
  }
  return (
    <div ref={workspace} className={styles.split}>
      <SplitPane dock={dock} size={panelLayout.size} onResize={panelLayout.resize} panel={panel}>
        {content}
      </SplitPane>
    </div>
  )
}
