import { memo, type FocusEvent, type MouseEvent } from 'react'
import { Icon } from '../../parts/Icon.tsx'
import { Duration } from '../../parts/time/Time.tsx'
import type { IconName } from '../../parts/icon-names.ts'
import { BUCKETS, BUCKET_NAMES, BUCKET_TONES } from '../jobs/buckets.ts'
import styles from './Graph.module.css'
import { isArrow, type Arrow } from '../layout/graph-walk.ts'
import type { JobTable } from '../jobs/job-table.ts'
import type { StepKind } from '../jobs/job.ts'
import type { LayoutNode, Rect } from '../layout/layout.ts'
import { toneClass } from '../../parts/state-badge/StateBadge.tsx'
import { describeRest, describeStep } from '../jobs/step-labels.ts'
import type { StepSummary } from '../jobs/step-summary.ts'
import { cssVariables } from '../rows/use-row-window.ts'
import { useStepSummary } from '../jobs/use-job-table.ts'

const KIND_ICONS: Record<StepKind, IconName> = {
  command: 'terminal',
  wait: 'pause',
  block: 'hand',
  input: 'pencil',
  trigger: 'workflow',
  group: 'layers',
}

interface Props {
  table: JobTable
  node: LayoutNode
  isSelected: boolean
  isTabStop: boolean
  onOpen: (stepId: string, event: MouseEvent) => void
  onArrow: (stepId: string, arrow: Arrow) => void
  onFocus: (stepId: string) => void
}

export const rectStyle = ({ x, y, width, height }: Rect) =>
  cssVariables({ '--x': `${x}px`, '--y': `${y}px`, '--w': `${width}px`, '--h': `${height}px` })

/** A step: a link to its job, or to the first of its jobs. */
export const GraphNode = memo(({ table, node, isSelected, isTabStop, onOpen, onArrow, onFocus }: Props) => {
  const summary = useStepSummary(table, node.id)
  const [first] = node.kind === 'wait' ? [] : summary.jobs
  const label = describeStep(table, node.id)
  return (
    <a
      href={`#${first?.id ?? ''}`}
      aria-disabled={first === undefined || undefined}
      className={`${styles.node} ${toneClass(summary.look?.tone ?? 'idle')}`}
      style={rectStyle(node)}
      data-step={node.id}
      data-kind={node.kind}
      data-selected={isSelected || undefined}
      tabIndex={isTabStop ? 0 : -1}
      {...(node.kind === 'wait' ? { 'aria-label': label } : {})}
      title={label}
      draggable={false}
      onClick={(event) => onOpen(node.id, event)}
      onKeyDown={(event) => {
        if (!isArrow(event.key)) return
        event.preventDefault()
        onArrow(node.id, event.key)
      }}
      onFocus={(event: FocusEvent) => {
        if (event.target.matches(':focus-visible')) onFocus(node.id)
      }}
    >
      {node.kind !== 'wait' && <Body table={table} node={node} summary={summary} />}
    </a>
  )
})

function Body({ table, node, summary }: { table: JobTable; node: LayoutNode; summary: StepSummary }) {
  const { look, total, startedMs, finishedMs } = summary
  return (
    <>
      <span className={styles.icon}>
        <Icon name={look?.icon ?? KIND_ICONS[node.kind]} isTurning={look?.icon === 'loader-circle'} />
      </span>
      <span className={styles.text}>
        <span className={`truncated ${styles.name}`}>{table.stepName(node.id)}</span>
        <span className={styles.meta}>
          {node.kind === 'group' && <Icon name="layers" size={12} />}
          <span className={`truncated ${styles.word}`}>{look?.label ?? ' '}</span>
          {total > 1 ? (
            <span>{total.toLocaleString()} jobs</span>
          ) : (
            startedMs !== null && <Duration from={startedMs} to={finishedMs} />
          )}
        </span>
        <span className="visually-hidden">{describeRest(table, node.id)}</span>
      </span>
      {total > 1 && <Segments summary={summary} />}
    </>
  )
}

const Segments = ({ summary: { counts } }: { summary: StepSummary }) => (
  <span className={styles.segments} aria-hidden="true">
    {BUCKETS.filter((bucket) => counts[bucket] > 0).map((bucket) => (
      <span
        key={bucket}
        className={`${styles.segment} ${toneClass(BUCKET_TONES[bucket])}`}
        title={`${counts[bucket]} ${BUCKET_NAMES[bucket]}`}
        style={cssVariables({ '--share': counts[bucket] })}
      />
    ))}
  </span>
)
