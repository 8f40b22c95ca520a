import { memo, type MouseEvent } from 'react'
import styles from './Graph.module.css'
import { GraphFrame } from './GraphFrame.tsx'
import { GraphNode } from './GraphNode.tsx'
import type { Arrow } from '../layout/graph-walk.ts'
import type { JobTable } from '../jobs/job-table.ts'
import type { Layout, Rect } from '../layout/layout.ts'

interface Props {
  table: JobTable
  layout: Layout
  /** Only what is in here is rendered. */
  view: Rect
  /** The nodes that are marked: the selected job's, and the one whose jobs are listed. */
  selectedStep: string | null
  openStep: string | null
  tabStop: string | null
  onOpen: (stepId: string, event: MouseEvent) => void
  onArrow: (stepId: string, arrow: Arrow) => void
  onFocus: (stepId: string) => void
  onFold: (groupId: string) => void
}

export const GraphCanvas = memo((props: Props) => {
  const { table, layout, view, selectedStep, openStep, tabStop, onOpen, onArrow, onFocus, onFold } = props
  const isShown = (rect: Rect) => overlaps(rect, view)
  return (
    <>
      <svg className={styles.edges} width={layout.width} height={layout.height} aria-hidden="true">
        {layout.edges.filter(isShown).map(({ from, to, path }) => (
          <path
            key={`${from} ${to}`}
            d={path}
            data-near={from === selectedStep || to === selectedStep || undefined}
          />
        ))}
      </svg>
      {layout.nodes
        .filter((node) => node.id === tabStop || isShown(node))
        .map((node) => (
          <GraphNode
            key={node.id}
            table={table}
            node={node}
            isSelected={node.id === selectedStep || node.id === openStep}
            isTabStop={node.id === tabStop}
            onOpen={onOpen}
            onArrow={onArrow}
            onFocus={onFocus}
          />
        ))}
      {layout.frames.filter(isShown).map((frame) => (
        <GraphFrame key={frame.id} table={table} frame={frame} onFold={onFold} />
      ))}
    </>
  )
})

const overlaps = (a: Rect, b: Rect) =>
  a.x <= b.x + b.width && b.x <= a.x + a.width && a.y <= b.y + b.height && b.y <= a.y + a.height
