// Runs a search while its page is open, and keeps what it finds.
import { useCallback, useEffect, useRef, useState } from 'react'
import { addressOf } from '../../api/call.ts'
import { readStream } from '../../api/event-stream.ts'
import { groupHits, type FoundBuild, type Hit, type Progress } from './found.ts'
import { isSearchable, toQuery, type LogSearch } from './search.ts'

interface State {
  hits: Hit[]
  progress: Progress | null
  /** Where to go on. null: nothing is left, or the search runs. */
  cursor: string | null
  status: 'idle' | 'running' | 'stopped' | 'ended'
  error: unknown
}

const nothing: State = { hits: [], progress: null, cursor: null, status: 'idle', error: null }

export interface Searched extends Omit<State, 'hits'> {
  builds: FoundBuild[]
  count: number
  stop: () => void
  goOn: () => void
}

export function useLogSearch(org: string, search: LogSearch): Searched {
  const [state, setState] = useState(nothing)
  const running = useRef<AbortController | null>(null)
  const wanted = JSON.stringify(search)
  const run = useCallback(
    (cursor: string | null) => {
      running.current?.abort()
      const own = new AbortController()
      running.current = own
      const set = (change: (before: State) => State) => own.signal.aborted || setState(change)
      const query = { ...toQuery(JSON.parse(wanted) as LogSearch), ...(cursor === null ? {} : { cursor }) }
      const address = addressOf('/v2/organizations/{org}/log-search/stream', { org }, query)
      setState((before) => ({ ...(cursor === null ? nothing : before), cursor: null, status: 'running' }))
      readStream(address, own.signal, ({ event, data }) => {
        const read: unknown = JSON.parse(data)
        if (event === 'hit') set((before) => ({ ...before, hits: [...before.hits, read as Hit] }))
        if (event === 'progress') set((before) => ({ ...before, progress: read as Progress }))
        if (event === 'failed') set((before) => ({ ...before, error: new Error('The search failed.') }))
        if (event === 'end') {
          const end = read as { progress: Progress; cursor: string | null }
          set((before) => ({ ...before, ...end }))
        }
      }).then(
        () => set((before) => ({ ...before, status: 'ended' })),
        (error: unknown) => set((before) => ({ ...before, status: 'ended', error })),
      )
    },
    [org, wanted],
  )
  useEffect(() => {
    if (isSearchable(JSON.parse(wanted) as LogSearch)) run(null)
    else setState(nothing)
    return () => running.current?.abort()
  }, [run, wanted])
  const { hits, ...rest } = state
  return {
    ...rest,
    builds: groupHits(hits),
    count: hits.length,
    stop() {
      running.current?.abort()
      setState((before) => ({ ...before, status: 'stopped' }))
    },
    goOn: () => run(state.cursor),
  }
}
