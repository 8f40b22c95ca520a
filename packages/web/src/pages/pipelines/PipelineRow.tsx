import { showLabel } from '../../parts/labels.ts'
import { Link } from '@tanstack/react-router'
import { formatDuration } from '../../parts/time/durations.ts'
import { Mark } from '../../parts/mark/Mark.tsx'
import { StateIcon } from '../../parts/state-badge/StateBadge.tsx'
import { Time } from '../../parts/time/Time.tsx'
import type { Pipeline, Trend } from './queries.ts'
import { StarButton } from './StarButton.tsx'
import { TrendBars } from './TrendBars.tsx'
import styles from './PipelineRow.module.css'

interface Props {
  org: string
  pipeline: Pipeline
  trend: Trend | undefined
  onFavorite: (isFavorite: boolean) => void
}

export function PipelineRow({ org, pipeline, trend, onFavorite }: Props) {
  const name = showLabel(pipeline.name)
  const last = trend?.builds.at(-1)
  return (
    <>
      <StarButton name={name} isStarred={pipeline.favorite} isTabStop={false} onStar={onFavorite} />
      <span className={styles.state}>
        {last === undefined ? (
          <StateIcon kind="build" state="not_run" />
        ) : (
          <StateIcon kind="build" state={last.state} detail={{ blocked: last.blocked }} />
        )}
      </span>
      <span className={styles.name}>
        <Mark emoji={pipeline.emoji} color={pipeline.color} />
        <Link
          to="/$org/$pipeline"
          params={{ org, pipeline: pipeline.slug }}
          className={`truncated row-link ${styles.link}`}
        >
          {name}
        </Link>
        <span className={`truncated muted ${styles.message}`}>
          {last === undefined
            ? trend !== undefined && 'No builds'
            : showLabel(last.message?.split('\n', 1)[0] ?? last.branch)}
        </span>
      </span>
      <span>{trend !== undefined && <TrendBars org={org} trend={trend} isTabStop={false} />}</span>
      <span className={styles.figure}>
        {trend?.median_seconds != null && formatDuration(trend.median_seconds)}
        {trend?.median_change != null && <Change value={trend.median_change} />}
      </span>
      <span className={styles.figure}>
        {trend?.reliability != null && `${Math.round(trend.reliability * 100)} %`}
      </span>
      <span className={styles.figure}>
        {trend !== undefined && trend.running > 0
          ? `${trend.running} running`
          : last !== undefined && <Time at={last.created_at} />}
      </span>
    </>
  )
}

function Change({ value }: { value: number }) {
  const percent = Math.round(value * 100)
  if (percent === 0) return null
  const label = `${Math.abs(percent)} % ${percent < 0 ? 'faster' : 'slower'} than in the 30 days before`
  return (
    <span className={styles.change} title={label} aria-label={label}>
      {percent > 0 ? '+' : '−'}
      {Math.abs(percent)}%
    </span>
  )
}
