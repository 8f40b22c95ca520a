import type { Schemas } from '../../../api/operations.ts'
import type { JobTable } from '../../../graph/jobs/job-table.ts'
import { Annotations } from './Annotations.tsx'
import { Artifacts } from './Artifacts.tsx'
import { isOver } from '../build-actions.ts'
import { Environment } from './Environment.tsx'
import { Failures } from './Failures.tsx'
import { Notifications } from './Notifications.tsx'
import type { BuildPlace } from '../queries.ts'
import type { TabName } from '../search.ts'
import type { Selection } from '../selection.ts'
import { StepUploads } from './StepUploads.tsx'
import { Tests } from './Tests.tsx'
import styles from '../Content.module.css'

interface Props {
  tab: TabName
  place: BuildPlace
  build: Schemas['Build']
  table: JobTable
  selection: Selection
}

export const BuildTab = ({ tab, place, build, table, selection }: Props) => (
  <div className={styles.scroll}>
    {tab === 'failures' && <Failures place={place} isRunning={!isOver(build)} selection={selection} />}
    {tab === 'annotations' && <Annotations place={place} isRunning={!isOver(build)} />}
    {tab === 'artifacts' && <Artifacts place={place} table={table} isRunning={!isOver(build)} />}
    {tab === 'tests' && <Tests place={place} build={build} />}
    {tab === 'environment' && <Environment build={build} />}
    {tab === 'uploads' && <StepUploads place={place} table={table} isRunning={!isOver(build)} />}
    {tab === 'notifications' && <Notifications place={place} />}
  </div>
)
