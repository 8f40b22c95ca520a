// The last builds as bars: the height is the duration, the colour is the state. Each state also has a shape, so that they differ
// without colour too.
import { Link } from '@tanstack/react-router'
import { toneClass } from '../../parts/state-badge/StateBadge.tsx'
import { stateLook, titleOf } from '../../parts/state-badge/states.ts'
import { formatDuration } from '../../parts/time/durations.ts'
import type { Trend } from './queries.ts'
import styles from './TrendBars.module.css'

interface Props {
  org: string
  trend: Pick<Trend, 'builds' | 'pipeline_slug'>
  size?: 'row' | 'strip'
  /** In a list, the arrow keys lead to the bars. */
  isTabStop?: boolean
}

export function TrendBars({ org, trend, size = 'row', isTabStop = true }: Props) {
  const longest = Math.max(1, ...trend.builds.map(({ seconds }) => seconds ?? 0))
  return (
    <div className={`${styles.bars} ${styles[size]}`} role="group" aria-label="Last builds">
      {trend.builds.map((build) => {
        const look = stateLook('build', build.state, { blocked: build.blocked })
        const tone = look.hasFailed === true ? 'failed' : look.tone
        const height = Math.round((0.2 + 0.8 * ((build.seconds ?? 0) / longest)) * 100)
        const length = build.seconds === null ? '' : `, ${formatDuration(build.seconds)}`
        const title = `#${build.number} ${titleOf(look)}${length}, ${build.branch}`
        return (
          <Link
            key={build.number}
            to="/$org/$pipeline/builds/$number"
            params={{ org, pipeline: trend.pipeline_slug, number: String(build.number) }}
            className={`${styles.bar} ${toneClass(tone)} ${styles[tone] ?? ''}`}
            title={title}
            tabIndex={isTabStop ? 0 : -1}
            aria-label={title}
          >
            <span className={styles.fill} style={{ height: `${height}%` }} />
          </Link>
        )
      })}
    </div>
  )
}
