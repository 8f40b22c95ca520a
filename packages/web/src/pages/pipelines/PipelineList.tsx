import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef, useState } from 'react'
import { useListKeys } from '../../parts/list-keys.ts'
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
  onOrder: (order: Order) => void
  onFavorite: (pipeline: Pipeline, isFavorite: boolean) => void
}

const wide = 41
const narrow = 61

/** Only the rows on screen are in the document, so that a thousand pipelines cost as much as thirty. */
export function PipelineList({ org, pipelines, trends, order, onOrder, onFavorite }: Props) {
  useListKeys()
  const list = useRef<HTMLUListElement>(null)
  const isNarrow = usePhone()
  const [offset, setOffset] = useState(0)
  useEffect(() => setOffset(list.current?.offsetTop ?? 0), [])
  const rows = useWindowVirtualizer({
    count: pipelines.length,
    estimateSize: () => (isNarrow ? narrow : wide),
    overscan: 10,
    scrollMargin: offset,
    getItemKey: (index) => pipelines[index]?.id ?? index,
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
      >
        {rows.getVirtualItems().map(({ index, key, start }) => {
          const pipeline = pipelines[index]
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
    </div>
  )
}
