import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useMemo, useRef, useState } from 'react'
import { useListKeys } from '../../parts/list-keys.ts'
import { UpdateRowsButton } from '../../parts/rows/UpdateRowsButton.tsx'
import { useFrozenRows } from '../../parts/rows/use-frozen-rows.ts'
import { usePhone } from '../../parts/use-media.ts'
import type { Order } from './choose.ts'
import { PipelineHeadings } from './PipelineHeadings.tsx'
import type { Pipeline, Trend } from './queries.ts'
import { PipelineRow } from './PipelineRow.tsx'
import styles from './PipelineList.module.css'

interface Props {
  org: string
  pipelines: readonly Pipeline[]
  trends: ReadonlyMap<string, Trend>
  order: Order
  /** Changes when somebody asks for other pipelines or another order. */
  request: string
  onOrder: (order: Order) => void
  onFavorite: (pipeline: Pipeline, isFavorite: boolean) => void
}

const wide = 41
const narrow = 61

interface Keyed {
  key: string
  pipeline: Pipeline
}

/** Only the rows on screen are in the document, so that a thousand pipelines cost as much as thirty. */
export function PipelineList({ org, pipelines: now, trends, order, request, onOrder, onFavorite }: Props) {
  useListKeys()
  const keyed = useMemo(() => now.map((pipeline): Keyed => ({ key: pipeline.id, pipeline })), [now])
  const { rows: pipelines, isOutdated, update, handlers } = useFrozenRows(keyed, request, same)
  const list = useRef<HTMLUListElement>(null)
  const isNarrow = usePhone()
  const [offset, setOffset] = useState(0)
  useEffect(() => setOffset(list.current?.offsetTop ?? 0), [])
  const rows = useWindowVirtualizer({
    count: pipelines.length,
    estimateSize: () => (isNarrow ? narrow : wide),
    overscan: 10,
    scrollMargin: offset,
    getItemKey: (index) => pipelines[index]?.key ?? index,
  })
  useEffect(() => rows.measure(), [rows, isNarrow])
  return (
    <div className="card">
      <PipelineHeadings order={order} onOrder={onOrder} />
      <ul
        ref={list}
        className={styles.list}
        aria-label="Pipelines"
        data-frozen-on-hover
        style={{ height: rows.getTotalSize() }}
        {...handlers}
      >
        {rows.getVirtualItems().map(({ index, key, start }) => {
          const pipeline = pipelines[index]?.pipeline
          return (
            pipeline !== undefined && (
              <li
                key={key}
                className={styles.row}
                data-list-row
                aria-setsize={pipelines.length}
                aria-posinset={index + 1}
                style={{ transform: `translateY(${start - offset}px)` }}
              >
                <PipelineRow
                  org={org}
                  pipeline={pipeline}
                  trend={trends.get(pipeline.id)}
                  onFavorite={(isFavorite) => onFavorite(pipeline, isFavorite)}
                />
              </li>
            )
          )
        })}
      </ul>
      {isOutdated && <UpdateRowsButton onUpdate={update} isOnScreen />}
    </div>
  )
}

/** A pipeline that has left the list stays as it was. */
const same = (row: Keyed) => row
