import { Link } from '@tanstack/react-router'
import type { Job } from '../../../graph/jobs/job.ts'
import { oneTab, sameBuild, withPanel, type PanelName } from '../search.ts'
import styles from '../BuildTabs.module.css'

const names: Record<PanelName, string> = {
  log: 'Log',
  artifacts: 'Artifacts',
  environment: 'Environment',
  timeline: 'Timeline',
}

/** Only commands have logs, artifacts and an environment. */
function panelsOf({ kind }: Pick<Job, 'kind'>): PanelName[] {
  return kind === 'command' ? ['log', 'artifacts', 'environment', 'timeline'] : ['log', 'timeline']
}

const firstNames: Partial<Record<Job['kind'], string>> = {
  block: 'Block',
  input: 'Input',
  trigger: 'Trigger',
}

export const JobTabs = ({ job, tab }: { job: Job; tab: PanelName }) => (
  <nav aria-label="Parts of the job" className={`${styles.tabs} ${styles.inPanel}`}>
    {panelsOf(job).map((each) => (
      <Link
        key={each}
        {...sameBuild}
        {...oneTab}
        search={(before) => withPanel(before, each)}
        replace
        className={styles.tab}
        aria-current={tab === each ? 'page' : undefined}
      >
        {each === 'log' ? (firstNames[job.kind] ?? names.log) : names[each]}
      </Link>
    ))}
  </nav>
)
