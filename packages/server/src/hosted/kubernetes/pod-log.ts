// What a container in a pod writes, piece by piece, by asking again and again for what is new: a request that stays
// open is cut off by whatever lies between, and says nothing of it.
import type { Cluster } from './cluster.ts'

export interface PodLog {
  read(): Promise<void>
  /** The end of what was read. */
  tail(): string
}

const mostTailLength = 4000
/** Lines come late when a node is busy. What was read before is known by its time. */
const overlapSeconds = 10

export function podLog(
  cluster: Cluster,
  pod: string,
  container: string,
  onText: (text: string) => void,
): PodLog {
  let [lastTime, tail, readAt] = ['', '', 0]
  return {
    tail: () => tail,
    async read() {
      const now = Date.now()
      const sinceSeconds = Math.ceil((now - readAt) / 1000) + overlapSeconds
      const request = {
        namespace: cluster.namespace,
        name: pod,
        container,
        timestamps: true,
        ...(readAt === 0 ? {} : { sinceSeconds }),
      }
      const answer = await cluster.ask((options) => cluster.core.readNamespacedPodLog(request, options))
      readAt = now
      // The client makes nothing of an empty answer.
      for (const line of (answer ?? '').split('\n')) {
        const [, time = '', text = ''] = /^(\S+) ?(.*)$/.exec(line) ?? []
        if (time <= lastTime) continue
        lastTime = time
        tail = `${tail}${text}\n`.slice(-mostTailLength)
        onText(`${text}\n`)
      }
    },
  }
}
