import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { BuildAddress } from '../../api/addresses.ts'
import { onBuild } from '../../api/live.ts'
import type { ShortJob } from '../../api/live-changes.ts'
import { buildQuery } from './queries.ts'

/** Jobs are counted some seconds after their end, so one question may come too early. */
const betweenMs = 4_000
const askedForMs = 20_000

/** The event stream says when a job ends, but not what it has cost. */
export function useCurrentCost({ org, pipeline, build }: BuildAddress, id: string | undefined): void {
  const client = useQueryClient()
  useEffect(() => {
    if (id === undefined) return
    let timer: ReturnType<typeof setTimeout> | undefined
    let lastEndMs = 0
    const askSoon = () => {
      timer ??= setTimeout(ask, betweenMs)
    }
    const ask = () => {
      void client.invalidateQueries({ queryKey: buildQuery({ org, pipeline, build }).queryKey })
      timer = Date.now() - lastEndMs < askedForMs ? setTimeout(ask, betweenMs) : undefined
    }
    const stop = onBuild(id, {
      onJob(job) {
        if (!hasEnded(job)) return
        lastEndMs = Date.now()
        askSoon()
      },
      onStale: () => {},
    })
    // A job may have ended just before the page was opened.
    const { finished_at: end = null } =
      client.getQueryData(buildQuery({ org, pipeline, build }).queryKey) ?? {}
    if (end === null || Date.now() - Date.parse(end) < askedForMs) askSoon()
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [id, client, org, pipeline, build])
}

/** It has run, so it may have cost something. */
const hasEnded = (job: ShortJob): boolean => typeof job[8] === 'number' && typeof job[9] === 'number'
