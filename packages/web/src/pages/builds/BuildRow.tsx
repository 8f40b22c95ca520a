import { showLabel } from '../../parts/labels.ts'
import { Link } from '@tanstack/react-router'
import type { Schemas } from '../../api/operations.ts'
import { Icon } from '../../parts/Icon.tsx'
import { StateBadge } from '../../parts/state-badge/StateBadge.tsx'
import { Time } from '../../parts/time/Time.tsx'
import { BuildDuration } from './BuildDuration.tsx'
import { detailOf, makerOf, personOf } from './build-facts.ts'
import styles from './BuildRow.module.css'

const sources: Record<Schemas['Build']['source'], string> = {
  webhook: 'push',
  api: 'API',
  ui: 'a person',
  trigger_job: 'another build',
  schedule: 'schedule',
}

/** The names of the columns. A phone has no columns. */
export const BuildHeadings = ({ withPipeline }: { withPipeline: boolean }) => (
  <div className={`${styles.row} ${styles.headings}`} aria-hidden="true">
    <span>State</span>
    <span>Message</span>
    <span className={styles.number}>{withPipeline ? 'Build' : 'Number'}</span>
    <span>Branch</span>
    <span className={styles.commit}>Commit</span>
    <span className={styles.who}>Author</span>
    <span className={styles.duration}>Duration</span>
    <span className={styles.when}>Created</span>
  </div>
)

interface Props {
  org: string
  build: Schemas['Build']
  /** Shows which pipeline it belongs to. */
  withPipeline: boolean
}

export function BuildRow({ org, build, withPipeline }: Props) {
  const pipeline = pipelineOf(build)
  const { number, state, branch, commit } = build
  const maker = makerOf(build)
  return (
    <li className={styles.row} data-list-row>
      <span className={styles.state}>
        <StateBadge
          kind="build"
          state={state}
          detail={detailOf(build)}
          isQuiet={state === 'passed' && !build.blocked}
        />
      </span>
      <Link
        to="/$org/$pipeline/builds/$number"
        params={{ org, pipeline, number: String(number) }}
        className={`truncated row-link ${styles.message}`}
      >
        {showLabel(firstLine(build.message) ?? 'No message')}
      </Link>
      <span className={`truncated ${styles.number}`}>
        {withPipeline && <span>{pipeline} </span>}#{number}
      </span>
      <span className={`truncated ${styles.branch}`} title={branch}>
        <Icon name="git-branch" size={12} /> <span>{branch}</span>
      </span>
      <code className={styles.commit}>{commit.slice(0, 7)}</code>
      <span
        className={`truncated ${styles.who}`}
        title={`By ${maker === null ? '' : `${maker}, `}${sources[build.source]}`}
      >
        {personOf(build) ?? sources[build.source]}
      </span>
      <span className={styles.duration}>
        <BuildDuration build={build} />
      </span>
      <span className={styles.when}>
        <Time at={build.created_at} />
      </span>
    </li>
  )
}

const firstLine = (message: string | null) => message?.trim().split('\n', 1)[0] || null

/** Lists leave the pipeline out of each build, and the address names it. */
const pipelineOf = (build: Schemas['Build']) => new URL(build.web_url).pathname.split('/')[2] ?? ''
