import type { BuildAddress } from '../../../api/addresses.ts'
import type { Schemas } from '../../../api/operations.ts'
import type { JobTable } from '../../../graph/jobs/job-table.ts'
import { Annotations } from './Annotations.tsx'
import { Artifacts } from './Artifacts.tsx'
import { isOver } from '../build-actions.ts'
import { Environment } from './Environment.tsx'
import { Failures } from './Failures.tsx'
import { Notifications } from './Notifications.tsx'
import type { TabName } from '../search.ts'
import type { Selection } from '../selection.ts'
import { StepUploads } from './StepUploads.tsx'
import { Tests } from './Tests.tsx'
import styles from '../Content.module.css'

interface Props {
  tab: TabName
  address: BuildAddress
  build: Schemas['Build']
  table: JobTable
  selection: Selection
}

export const BuildTab = ({ tab, address, build, table, selection }: Props) => (
  <div className={styles.scroll}>
    {tab === 'failures' && <Failures address={address} isRunning={!isOver(build)} selection={selection} />}
    {tab === 'annotations' && <Annotations address={address} isRunning={!isOver(build)} />}
    {tab === 'artifacts' && <Artifacts address={address} table={table} isRunning={!isOver(build)} />}
    {tab === 'tests' && <Tests address={address} build={build} />}
    {tab === 'environment' && <Environment build={build} />}
    {tab === 'uploads' && <StepUploads address={address} table={table} isRunning={!isOver(build)} />}
    {tab === 'notifications' && <Notifications address={address} />}
  </div>
)
