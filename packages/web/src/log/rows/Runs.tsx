import type { CSSProperties } from 'react'
import { lookOf } from './styles.ts'
import styles from './Row.module.css'

/** A row of a log in its colors, outside of the view of the log. */
export const Runs = ({ runs }: { runs: ReadonlyArray<string | readonly string[]> }) =>
  // The runs of a row have no identity besides their place.
  // oxlint-disable-next-line react/no-array-index-key
  runs.map((run, index) => (typeof run === 'string' ? run : <Styled key={index} run={run} />))

function Styled({ run: [text = '', style = ''] }: { run: readonly string[] }) {
  const { classes, color, background } = lookOf(style)
  const colors: CSSProperties = {
    ...(color === undefined ? {} : { color }),
    ...(background === undefined ? {} : { background }),
  }
  return (
    <span className={classes.map((name) => styles[name]).join(' ')} style={colors}>
      {text}
    </span>
  )
}
