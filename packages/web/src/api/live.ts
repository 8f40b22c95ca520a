// Live updates. A page says which organization and which builds it shows; cached answers and job tables then stay current.
import { useEffect } from 'react'
import { ChangeSet, type Changes, type ShortJob } from './live-changes.ts'
import { LiveOrganization } from './live-organization.ts'
import { isListOfBuilds, patchBuilds } from './live-patch.ts'
import { refreshSoon } from './live-refresh.ts'
import type { Watched } from './live-wants.ts'
import { queryClient } from './queries.ts'

interface BuildListener {
  onJob: (job: ShortJob) => void
  /** Steps were added, or changes may have been missed: the snapshot has to be fetched anew. */
  onStale: () => void
}

const listenersByBuild = new Map<string, Set<BuildListener>>()
const organizations = new Map<string, { live: LiveOrganization; pages: Map<object, readonly Watched[]> }>()
let unapplied: ChangeSet | null = null

const none: readonly Watched[] = []

/** Keeps what the page shows of the organization current, and the jobs of these builds. */
export function useLive(org: string | null, builds: readonly Watched[] = none): void {
  const key = JSON.stringify(builds.map(({ id }) => id))
  useEffect(() => {
    if (org === null) return
    const page = {}
    const known = organizations.get(org)
    const joined = known ?? { live: openLive(org), pages: new Map<object, readonly Watched[]>() }
    organizations.set(org, joined)
    joined.pages.set(page, builds)
    joined.live.watch([...joined.pages.values()].flat())
    return () => {
      joined.pages.delete(page)
      // The next page joins in the same turn, so the stream goes on.
      setTimeout(() => leave(org))
    }
    // The same builds are the same wish, whatever object names them.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [org, key])
}

/** Tells of the jobs of a build that a page shows. */
export function onBuild(id: string, listener: BuildListener): () => void {
  const listeners = listenersByBuild.get(id) ?? new Set()
  listenersByBuild.set(id, listeners.add(listener))
  return () => {
    listeners.delete(listener)
    if (listeners.size === 0) listenersByBuild.delete(id)
  }
}

function leave(org: string): void {
  const joined = organizations.get(org)
  if (joined === undefined) return
  if (joined.pages.size > 0) return joined.live.watch([...joined.pages.values()].flat())
  joined.live.close()
  organizations.delete(org)
}

const openLive = (org: string) => new LiveOrganization(org, { onChanges: take, onReset: reset })

function take(changes: Changes): void {
  for (const { build_id: id, job } of changes.jobs ?? []) {
    for (const { onJob } of listenersByBuild.get(id) ?? []) onJob(job)
  }
  if (unapplied === null) {
    unapplied = new ChangeSet()
    if (document.hidden) setTimeout(apply, 1000)
    else requestAnimationFrame(apply)
  }
  unapplied.add(changes)
}

function apply(): void {
  const changes = unapplied
  unapplied = null
  if (changes === null) return
  for (const id of changes.graphs) tellStale(id)
  if (changes.builds.size > 0) {
    const hasNew = patchBuilds(queryClient, changes.builds)
    const isOver = [...changes.builds.values()].some(({ finished_at }) => finished_at !== null)
    if (hasNew || isOver) refreshSoon('builds', isListOfBuilds)
  }
  if (changes.agents.size > 0) refreshSoon('agents', names(/^GET \/v2\/.*\/agents(\/\{agent\}(\/jobs)?)?$/))
  if (changes.queues.size > 0) refreshSoon('queues', names(/^GET \/v2\/.*\/queues(\/\{queue\})?$/))
  // A build brings jobs to queues, and agents take them.
  if (changes.builds.size + changes.agents.size > 0)
    refreshSoon('waiting jobs', names(/^GET \/v2\/.*\/queues\/\{queue\}\/(jobs|metrics)$/))
}

const names = (pattern: RegExp) => (name: unknown) => typeof name === 'string' && pattern.test(name)

function tellStale(build: string): void {
  for (const { onStale } of listenersByBuild.get(build) ?? []) onStale()
}

function reset(build: string | null): void {
  if (build !== null) return tellStale(build)
  for (const id of listenersByBuild.keys()) tellStale(id)
  void queryClient.invalidateQueries()
}
