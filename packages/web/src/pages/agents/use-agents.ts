import { useInfiniteQuery } from '@tanstack/react-query'
import { useNow } from '../../parts/time/clock.ts'
import { isLatelyLost } from './agent-state.ts'
import { agentsQuery } from './queries.ts'

interface Which {
  /** Also those that went. */
  state?: 'all' | undefined
  /** Of one queue. */
  queueId?: string
}

/** The connected agents, and those that were lost in the last day. */
export function useAgents(org: string, { state, queueId }: Which) {
  const queue = queueId === undefined ? {} : { cluster_queue_id: queueId }
  const list = useInfiniteQuery(agentsQuery(org, state === undefined ? queue : { ...queue, state }))
  const lost = useInfiniteQuery({
    ...agentsQuery(org, { ...queue, state: 'lost' }),
    enabled: state === undefined,
  })
  const nowMs = useNow()
  const listed = list.data?.pages.flatMap(({ rows }) => rows)
  const lately = (lost.data?.pages ?? [])
    .flatMap(({ rows }) => rows)
    .filter((agent) => state === undefined && isLatelyLost(agent, nowMs))
  return { agents: listed && [...lately, ...listed], list }
}
