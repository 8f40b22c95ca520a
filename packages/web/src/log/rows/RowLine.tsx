import { memo, type CSSProperties } from 'react'
import { RowNumber, type OnNumber } from './RowNumber.tsx'
import type { Hit } from '../search/hits.ts'
import { piecesOf, type Piece } from './pieces.ts'
import { opensGroup, type Row } from '../model/rows.ts'
import { lookOf } from './styles.ts'
import { rowHeight } from '../viewport/wrap.ts'
import styles from './Row.module.css'

interface Props {
  number: number
  /** Undefined while it is fetched. */
  row: Row | undefined
  lines: number
  time: string
  hits: readonly Hit[]
  mark: 'none' | 'selected' | 'failing'
  href: string
  onNumber: OnNumber
}

export const RowLine = memo(({ number, row, lines, time, hits, mark, href, onNumber }: Props) => (
  <div
    className={`${styles.row} ${styles[mark] ?? ''}`}
    data-row={number}
    data-mark={mark}
    style={lines > 1 ? { height: lines * rowHeight } : undefined}
  >
    <RowNumber number={number} href={href} onNumber={onNumber} />
    <span className={styles.time}>{time}</span>
    <span className={styles.text} data-text>
      <Content row={row} hits={hits} />
    </span>
  </div>
))

/** What opens a group is for programs. Its row stays, because links name rows by their numbers. */
function Content({ row, hits }: { row: Row | undefined; hits: readonly Hit[] }) {
  if (row === undefined) return <span className={styles.missing} />
  return opensGroup(row.text) ? null : <Pieces row={row} hits={hits} />
}

const Pieces = ({ row, hits }: { row: Row; hits: readonly Hit[] }) =>
  // The pieces of a row have no identity besides their place.
  // oxlint-disable-next-line react/no-array-index-key
  piecesOf(row, hits).map((piece, index) => <Shown key={index} piece={piece} />)

function Shown({ piece }: { piece: Piece }) {
  const { text, style, link, hit, kind } = piece
  if (kind === 'chip')
    return <span className={styles.chip} data-code={text} title="Changes the order of text" />
  if (kind === 'host') return <span className={styles.host} data-host={text} />
  if (style === '' && link === null && hit === 'no') return text
  const look = lookOf(style)
  const classes = look.classes.map((name) => styles[name]).join(' ')
  const className =
    `${classes} ${hit === 'no' ? '' : styles[hit === 'current' ? 'currentHit' : 'hit']}`.trim()
  const colors: CSSProperties = {
    ...(look.color === undefined ? {} : { color: look.color }),
    ...(look.background === undefined ? {} : { background: look.background }),
  }
  if (link === null)
    return (
      <span className={className} style={hit === 'no' ? colors : undefined}>
        {text}
      </span>
    )
  return (
    <a
      className={`${styles.link} ${className}`}
      style={hit === 'no' ? colors : undefined}
      href={link}
      title={link}
      target="_blank"
      rel="noopener noreferrer nofollow"
    >
      {text}
    </a>
  )
}
