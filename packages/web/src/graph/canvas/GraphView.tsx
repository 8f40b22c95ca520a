import { useCallback, useMemo, useState, type MouseEvent } from 'react'
import { IconButton } from '../../parts/Button.tsx'
import { useKeys } from '../../parts/keys.ts'
import styles from './Graph.module.css'
import rows from '../rows/Rows.module.css'
import { GraphCanvas } from './GraphCanvas.tsx'
import { walk, type Arrow } from '../layout/graph-walk.ts'
import { StepJobs } from './StepJobs.tsx'
import { usePhone } from '../../parts/use-media.ts'
import { useShape } from '../jobs/use-job-table.ts'
import { useLayout } from '../layout/use-layout.ts'
import { cssVariables } from '../rows/use-row-window.ts'
import { MARGIN, useZoom } from './use-zoom.ts'
import { selectOnClick, useStableSelect, type ViewProps } from '../view.ts'

/** Below this zoom names are too small to read and are left out. */
const leastReadable = 0.5
/** Larger groups are folded at first. */
const mostOpenSteps = 30

/** The steps of a build and what waits for what. A table without jobs shows a pipeline. */
export function GraphView({ table, selectedJob, onSelect }: ViewProps) {
  const shape = useShape(table)
  const select = useStableSelect(onSelect)
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set())
  const [focused, setFocused] = useState<string | null>(null)
  const [openStep, setOpenStep] = useState<string | null>(null)

  const direction = usePhone() ? 'down' : 'right'
  const input = useMemo(() => {
    const groups = table.steps.flatMap(({ kind, id }) => (kind === 'group' ? [id] : []))
    const folded = groups.filter((id) => table.membersOf(id).length > mostOpenSteps !== toggled.has(id))
    return { shape, steps: table.steps, edges: table.edges, folded, direction } as const
  }, [table, shape, toggled, direction])
  const layout = useLayout(input)
  const selectedStep = selectedJob === null ? null : (table.job(selectedJob)?.stepId ?? null)
  const startStep = selectedStep ?? table.groups().jobs.failed[0]?.stepId ?? null
  const start = layout?.nodes.find(({ id }) => id === startStep) ?? layout?.nodes[0] ?? null
  const { zoom, scroller, setScroller, view, zoomBy, fit, reveal } = useZoom(layout, start)
  useKeys([
    { keys: '0', label: 'Fit the graph', run: fit },
    { keys: '+', label: 'Zoom in', run: () => zoomBy(1.25) },
    { keys: '-', label: 'Zoom out', run: () => zoomBy(0.8) },
  ])

  const toggleGroup = useCallback((id: string) => {
    setToggled((now) => new Set(now.has(id) ? [...now].filter((each) => each !== id) : [...now, id]))
  }, [])
  const onOpen = useCallback(
    (stepId: string, event: MouseEvent) => {
      const jobs = table.jobsOf(stepId)
      const [first] = jobs
      const kind = table.step(stepId)?.kind
      if (kind === 'group') selectOnClick(() => toggleGroup(stepId))(event)
      else if (kind !== 'wait' && jobs.length > 1) selectOnClick(() => setOpenStep(stepId))(event)
      else if (first === undefined || kind === 'wait') event.preventDefault()
      else selectOnClick(() => select(first.id))(event)
    },
    [table, select, toggleGroup],
  )

  const focusNode = useCallback(
    (id: string | null) => {
      const node = layout?.nodes.find((each) => each.id === id)
      if (node === undefined) return
      reveal(node)
      setFocused(node.id)
      // The node may come into the document with the next render only.
      requestAnimationFrame(() => {
        const element = scroller?.querySelector<HTMLElement>(`[data-step="${CSS.escape(node.id)}"]`)
        element?.focus({ preventScroll: true })
      })
    },
    [layout, reveal, scroller],
  )
  const onArrow = useCallback(
    (stepId: string, arrow: Arrow) => {
      if (layout !== null) focusNode(walk(layout, direction, stepId, arrow))
    },
    [layout, direction, focusNode],
  )

  if (layout === null) return <p className={rows.empty}>Laying out {table.steps.length} steps…</p>
  if (layout.nodes.length === 0) return <p className={rows.empty}>There are no steps.</p>

  const size = { width: layout.width * zoom + 2 * MARGIN, height: layout.height * zoom + 2 * MARGIN }

  return (
    <div className={styles.view}>
      <div
        className={styles.scroller}
        ref={setScroller}
        role="group"
        aria-label="Graph of steps. Arrow keys follow the edges."
      >
        <div
          className={styles.extent}
          style={cssVariables({ '--w': `${size.width}px`, '--h': `${size.height}px` })}
        >
          <div
            className={styles.canvas}
            data-far={zoom < leastReadable || undefined}
            style={cssVariables({ '--zoom': zoom, '--margin': `${MARGIN}px` })}
          >
            <GraphCanvas
              table={table}
              layout={layout}
              view={view}
              selectedStep={selectedStep}
              openStep={openStep}
              tabStop={
                layout.nodes.some(({ id }) => id === focused) ? focused : (layout.nodes[0]?.id ?? null)
              }
              onOpen={onOpen}
              onArrow={onArrow}
              onFocus={setFocused}
              onFold={toggleGroup}
            />
          </div>
        </div>
      </div>
      <div className={`card ${styles.controls}`}>
        <IconButton label="Zoom in" icon="zoom-in" onClick={() => zoomBy(1.25)} />
        <IconButton label="Zoom out" icon="zoom-out" onClick={() => zoomBy(0.8)} />
        <IconButton label="Fit" icon="maximize" onClick={fit} />
      </div>
      {openStep !== null && (
        <StepJobs
          key={openStep}
          table={table}
          stepId={openStep}
          selectedJob={selectedJob}
          onSelect={select}
          onClose={() => {
            setOpenStep(null)
            focusNode(openStep)
          }}
        />
      )}
    </div>
  )
}
