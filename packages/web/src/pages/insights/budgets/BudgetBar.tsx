import { toneClass } from '../../../parts/state-badge/StateBadge.tsx'
import styles from './BudgetBar.module.css'

/** The end of a bar, in percent of the amount. */
const end = 120

export const budgetState = (percent: number) => (percent >= 100 ? 'spent' : percent >= 80 ? 'near' : 'within')

const tones = { within: 'idle', near: 'warn', spent: 'failed' } as const

/** A picture of a number that stands beside it, so a screen reader skips it. The lines are 80 % and 100 %. */
export const BudgetBar = ({ percent }: { percent: number }) => (
  <svg
    viewBox={`0 0 ${end} 10`}
    preserveAspectRatio="none"
    className={`${styles.bar} ${toneClass(tones[budgetState(percent)])}`}
    aria-hidden="true"
  >
    <rect width={end} height="10" className={styles.track} />
    <rect width={Math.min(percent, end)} height="10" className={styles.spent} />
    {[80, 100].map((share) => (
      <line key={share} x1={share} x2={share} y1="0" y2="10" className={styles.mark} />
    ))}
  </svg>
)
