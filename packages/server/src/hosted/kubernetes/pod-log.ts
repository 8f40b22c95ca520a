// Follows the log of a container in a pod by polling for new lines. A request that stays open can be cut by a proxy without an
// error.
import type { Cluster } from './cluster.ts'
import { readPodLog } from './pods.ts'

export interface PodLog {
  read(): Promise<void>
  tail(): string
}

const mostTailLength = 4000
/** Lines of a busy node arrive late. Lines that were read before are recognized by their time. */
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
      const text = await readPodLog(cluster, {
        name: pod,
        container,
        timestamps: true,
        ...(readAt === 0 ? {} : { sinceSeconds }),
      })
      readAt = now
      for (const line of text.split('\n')) {
        const [, time = '', words = ''] = /^(\S+) ?(.*)$/.exec(line) ?? []
        if (time <= lastTime) continue
        lastTime = time
        tail = `${tail}${words}\n`.slice(-mostTailLength)
        onText(`${words}\n`)
      }
    },
  }
}
