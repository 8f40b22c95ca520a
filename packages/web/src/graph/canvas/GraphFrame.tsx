import { Icon } from '../../parts/Icon.tsx'
import styles from './Graph.module.css'
import { rectStyle } from './GraphNode.tsx'
import type { JobTable } from '../jobs/job-table.ts'
import type { Layout } from '../layout/layout.ts'
import { StateMark } from '../rows/StateMark.tsx'
import { describeRest, describeStep } from '../jobs/step-labels.ts'
import { useStepSummary } from '../jobs/use-job-table.ts'

interface Props {
  table: JobTable
  frame: Layout['frames'][number]
  onFold: (groupId: string) => void
}

/** An open group around its steps. */
export function GraphFrame({ table, frame, onFold }: Props) {
  const { look } = useStepSummary(table, frame.id)
  return (
    <div className={styles.frame} style={rectStyle(frame)}>
      <button
        type="button"
        className={styles.fold}
        aria-expanded="true"
        title={describeStep(table, frame.id)}
        onClick={() => onFold(frame.id)}
      >
        <Icon name="chevron-down" size={14} />
        <span className={`truncated ${styles.name}`}>{table.stepName(frame.id)}</span>
        {look !== null && <StateMark look={look} />}
        <span className="visually-hidden">{describeRest(table, frame.id)}</span>
      </button>
    </div>
  )
}
