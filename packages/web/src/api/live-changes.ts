// What the event stream of an organization says, and how several messages become one.
import type { Schemas } from './operations.ts'

export type ShortBuild = Schemas['ShortBuild']
/** Servers may add fields at the end. */
export type ShortJob = Readonly<Schemas['ShortJob']>

interface ShortAgent {
  id: string
  connection_state: string
  paused?: boolean
  cluster_id: string | null
  queue_id: string | null
  job_id: string | null
}

interface ShortQueue {
  id: string
  cluster_id: string
  dispatch_paused: boolean
}

export interface Changes {
  builds?: ShortBuild[]
  jobs?: Array<{ build_id: string; job: ShortJob }>
  /** Builds whose steps changed. */
  graphs?: string[]
  agents?: ShortAgent[]
  queues?: ShortQueue[]
}

/** The newest state of each build, agent and queue, until the next frame applies it. */
export class ChangeSet {
  readonly builds = new Map<string, ShortBuild>()
  readonly agents = new Map<string, ShortAgent>()
  readonly queues = new Map<string, ShortQueue>()
  readonly graphs = new Set<string>()

  add({ builds = [], agents = [], queues = [], graphs = [] }: Changes): void {
    for (const build of builds) this.builds.set(build.id, build)
    for (const agent of agents) this.agents.set(agent.id, agent)
    for (const queue of queues) this.queues.set(queue.id, queue)
    for (const id of graphs) this.graphs.add(id)
  }
}
