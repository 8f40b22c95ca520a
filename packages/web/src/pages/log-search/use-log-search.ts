// Runs a search while its page is open, and keeps what it finds.
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { addressOf } from '../../api/call.ts'
import { readStream } from '../../api/event-stream.ts'
import { groupHits, type FoundBuild, type Hit, type Progress } from './found.ts'
import { toQuery, type LogSearch } from './search.ts'

interface State {
  hits: Hit[]
  progress: Progress | null
  /** Where to go on. null: nothing is left, or the search runs. */
  cursor: string | null
  status: 'running' | 'stopped' | 'ended'
  error: unknown
}

const begun: State = { hits: [], progress: null, cursor: null, status: 'running', error: null }

interface Searched extends Omit<State, 'hits'> {
  builds: FoundBuild[]
  count: number
  stop: () => void
  goOn: () => void
}

/** For a component that has the search as its key. */
export function useLogSearch(org: string, search: LogSearch): Searched {
  const [state, setState] = useState(begun)
  const running = useRef<AbortController | null>(null)
  const read = useEffectEvent((cursor: string | null) => {
    const own = new AbortController()
    running.current = own
    const set = (change: (before: State) => Partial<State>) =>
      own.signal.aborted || setState((before) => ({ ...before, ...change(before) }))
    const query = { ...toQuery(search), ...(cursor === null ? {} : { cursor }) }
    const address = addressOf('/v2/organizations/{org}/log-search/stream', { org }, query)
    readStream(address, own.signal, ({ event, data }) => {
      const said: unknown = JSON.parse(data)
      if (event === 'hit') set(({ hits }) => ({ hits: [...hits, said as Hit] }))
      if (event === 'progress') set(() => ({ progress: said as Progress }))
      if (event === 'failed') set(() => ({ error: new Error('The search failed.') }))
      if (event === 'end') set(() => said as Pick<State, 'progress' | 'cursor'>)
    }).then(
      () => set(() => ({ status: 'ended' })),
      (error: unknown) => set(() => ({ status: 'ended', error })),
    )
  })
  const [from, setFrom] = useState<string | null>(null)
  useEffect(() => {
    read(from)
    return () => running.current?.abort()
  }, [from])
  const { hits, ...rest } = state
  return {
    ...rest,
    builds: groupHits(hits),
    count: hits.length,
    stop() {
      running.current?.abort()
      setState((before) => ({ ...before, status: 'stopped' }))
    },
    goOn() {
      setState((before) => ({ ...before, cursor: null, status: 'running' }))
      setFrom(state.cursor)
    },
  }
}
