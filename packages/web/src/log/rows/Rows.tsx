import { useCallback, useLayoutEffect, useRef, useSyncExternalStore } from 'react'
import { GroupHeader } from './GroupHeader.tsx'
import type { Group } from '../model/groups.ts'
import type { Hit } from '../search/hits.ts'
import { RowLine } from './RowLine.tsx'
import { formatFragment, isSelected, selectRow, type Lines } from '../selection.ts'
import { formatTime, type TimeForm } from './times.ts'
import { toggleGroup } from './toggle-group.ts'
import { useCopying } from './use-copying.ts'
import { useColumns } from './use-columns.ts'
import type { OpenLog } from '../use-log.ts'
import styles from '../LogView.module.css'

const noHits: readonly Hit[] = []

interface Props {
  log: OpenLog
  label: string
  times: TimeForm
  isWrapped: boolean
  lines: Lines | null
  onLines: (lines: Lines | null) => void
}

/** The rows on screen. */
export function Rows({ log, label, times, isWrapped, lines, onLines }: Props) {
  const { model, viewport, finder } = log
  const frame = useSyncExternalStore(viewport.subscribe, viewport.read)
  const found = useSyncExternalStore(finder.subscribe, finder.read)
  const scroller = useRef<HTMLDivElement>(null)
  const spacer = useRef<HTMLDivElement>(null)
  const layer = useRef<HTMLDivElement>(null)
  const probe = useRef<HTMLSpanElement>(null)
  const digits = Math.max(3, String(model.total).length)
  const style = useColumns({
    viewport,
    scroller,
    probe,
    digits,
    times,
    isWrapped,
    widest: model.blocks.widest,
  })

  useLayoutEffect(() => {
    if (scroller.current === null || spacer.current === null || layer.current === null) return
    return viewport.attach({ scroller: scroller.current, spacer: spacer.current, layer: layer.current })
  }, [viewport])
  useCopying(scroller)

  const { folding } = frame.layout
  const hrefOf = (row: number) => formatFragment(model.address.job, { from: row, to: row })
  const markOf = (row: number) =>
    isSelected(lines, row) ? 'selected' : row === model.failingRow ? 'failing' : 'none'
  const onToggle = useCallback((group: Group) => toggleGroup(log, group), [log])
  const onNumber = useCallback(
    (number: number, isExtending: boolean) => onLines(selectRow(lines, number, isExtending)),
    [lines, onLines],
  )
  const headerOf = (index: number, isSticky: boolean) => {
    const group = folding.groups[index]
    if (group === undefined) return null
    return (
      <GroupHeader
        key={group.row}
        group={group}
        rows={folding.rowsIn(index)}
        isOpen={folding.isOpen(index)}
        isSticky={isSticky}
        mark={markOf(group.row)}
        href={hrefOf(group.row)}
        onNumber={onNumber}
        onToggle={onToggle}
      />
    )
  }

  return (
    <div className={styles.window}>
      <div className={styles.probe} aria-hidden>
        <span ref={probe}>{'0'.repeat(100)}</span>
      </div>
      <div
        ref={scroller}
        className={styles.scroller}
        style={style}
        data-wrapped={isWrapped || undefined}
        role="region"
        aria-label={label}
        // Whoever has no mouse scrolls with the keys.
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
      >
        {frame.stickyGroup !== -1 && <div className={styles.sticky}>{headerOf(frame.stickyGroup, true)}</div>}
        <div ref={spacer} className={styles.spacer}>
          <div ref={layer} className={styles.layer}>
            {frame.rows.map((number) => {
              const index = folding.groupOf(number)
              if (folding.groups[index]?.row === number) return headerOf(index, false)
              const row = model.blocks.row(number)
              return (
                <RowLine
                  key={number}
                  number={number}
                  row={row}
                  lines={frame.layout.linesOf(number)}
                  time={formatTime(times, {
                    time: row?.time ?? null,
                    before: model.blocks.row(number - 1)?.time ?? null,
                    start: model.firstTime,
                  })}
                  hits={found.hits.get(number) ?? noHits}
                  mark={markOf(number)}
                  href={hrefOf(number)}
                  onNumber={onNumber}
                />
              )
            })}
          </div>
        </div>
      </div>
    </div>
  )
}
