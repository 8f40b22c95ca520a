import { showLabel } from '../../parts/labels.ts'
import { Link } from '@tanstack/react-router'
import type { Schemas } from '../../api/operations.ts'
import { Icon } from '../../parts/Icon.tsx'
import { StateBadge } from '../../parts/state-badge/StateBadge.tsx'
import { Duration, Time } from '../../parts/time/Time.tsx'
import styles from './BuildRow.module.css'

const sources: Record<Schemas['Build']['source'], string> = {
  webhook: 'push',
  api: 'API',
  ui: 'a person',
  trigger_job: 'another build',
  schedule: 'schedule',
}

interface Props {
  org: string
  build: Schemas['Build']
  /** Shows which pipeline it belongs to. */
  withPipeline: boolean
}

export function BuildRow({ org, build, withPipeline }: Props) {
  const pipeline = pipelineOf(build)
  const { number, state, blocked, branch, commit } = build
  return (
    <li className={styles.row}>
      <span className={styles.state}>
        <StateBadge kind="build" state={state} detail={{ blocked }} />
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
      <span className={`truncated ${styles.who}`} title={`By ${sources[build.source]}`}>
        {build.creator?.name ?? build.author?.name ?? sources[build.source]}
      </span>
      <span className={styles.duration}>
        <Duration from={build.started_at} to={build.finished_at} />
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
