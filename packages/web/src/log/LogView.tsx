import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react'
import type { JobAddress } from '../api/addresses.ts'
import { Button } from '../parts/Button.tsx'
import { Empty, Loading } from '../parts/States.tsx'
import { logActions } from './actions.ts'
import { GoToRow } from './GoToRow.tsx'
import { readPreferences } from './preferences.ts'
import { Rows } from './rows/Rows.tsx'
import type { Lines } from './selection.ts'
import { StatusLine } from './StatusLine.tsx'
import { Toolbar } from './Toolbar.tsx'
import { useLog, type OpenLog } from './use-log.ts'
import { useLogKeys } from './use-log-keys.ts'
import styles from './LogView.module.css'

interface Props extends JobAddress {
  /** Names the job: "Log of Tests". */
  label: string
  isRunning: boolean
  /** The rows that the address selects. */
  lines: Lines | null
  onLines: (lines: Lines | null) => void
  /** Whether the log takes the whole page; without it, that is not offered. */
  isFull?: boolean
  onFull?: () => void
}

/** The log of one job. It fills its parent. */
export function LogView(props: Props) {
  const { org, pipeline, build, job, isRunning } = props
  const log = useLog({ org, pipeline, build, job }, isRunning)
  return <div className={styles.view}>{log !== null && <OpenedLog key={job} log={log} {...props} />}</div>
}

function OpenedLog({ log, label, lines, onLines, isFull, onFull }: Props & { log: OpenLog }) {
  const { model, viewport } = log
  useSyncExternalStore(model.subscribe, () => model.version)
  const [preferences, setPreferences] = useState(readPreferences)
  const [isAsking, setAsking] = useState(false)
  const view = useRef<HTMLDivElement>(null)
  const [chosen, setChosen] = useState<Lines | null>(null)
  const choose = useCallback(
    (next: Lines | null) => {
      setChosen(next)
      onLines(next)
    },
    [onLines],
  )
  const actions = logActions({
    log,
    lines,
    onLines: choose,
    preferences,
    setPreferences,
    askRow: () => setAsking(true),
    toggleFull: () => onFull?.(),
  })
  useLogKeys(actions, view, (edge) => (edge === 'last' ? viewport.goToEnd() : viewport.goTo(1, 'top')))
  useOpening(log, lines, chosen)

  return (
    <div ref={view} className={styles.parts}>
      <Toolbar
        log={log}
        actions={actions}
        preferences={preferences}
        isFull={onFull === undefined ? undefined : isFull === true}
      />
      {model.total === 0 ? (
        <Nothing log={log} />
      ) : (
        <Rows
          log={log}
          label={label}
          times={preferences.times}
          isWrapped={preferences.isWrapped}
          lines={lines}
          onLines={choose}
        />
      )}
      <StatusLine log={log} actions={actions} lines={lines} />
      <GoToRow
        isOpen={isAsking}
        total={model.total}
        onClose={() => setAsking(false)}
        onRow={actions.goToRow}
      />
    </div>
  )
}

/** Opens at the rows of the address, else at the failing row, else at the end. Goes to rows that the address gets later. */
function useOpening({ model, viewport }: OpenLog, lines: Lines | null, chosen: Lines | null): void {
  const { hasIndex } = model
  const from = lines?.from ?? null
  const to = lines?.to ?? null
  const isOwn = chosen !== null && lines !== null && chosen.from === lines.from && chosen.to === lines.to
  useEffect(() => {
    if (!hasIndex || isOwn) return
    if (from === null) return
    const [first, last] = [Math.min(from, model.total), Math.min(to ?? from, model.total)]
    viewport.goTo(first, 'center', last)
  }, [model, viewport, hasIndex, from, to, isOwn])
  useEffect(() => {
    if (hasIndex && from === null && model.failingRow !== null) viewport.goTo(model.failingRow)
    // The place of the first look. Later the reader decides.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [model, viewport, hasIndex])
}

function Nothing({ log: { model } }: { log: OpenLog }) {
  if (model.state === 'failed')
    return (
      <div className={styles.nothing} role="alert">
        <Empty
          title={model.failure}
          action={<Button onClick={() => void model.load(!model.isFinal)}>Try again</Button>}
        />
      </div>
    )
  return (
    <div className={styles.nothing}>
      {model.state === 'loading' && <Loading />}
      {model.state === 'deleted' && <Empty title="This log was deleted." />}
      {model.state === 'ready' && (
        <Empty title={model.isFinal ? 'The job wrote nothing.' : 'Waiting for the first row…'} />
      )}
    </div>
  )
}
