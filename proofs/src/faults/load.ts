// Clients of the REST API that create builds, annotate and cancel some, and record what was acknowledged.
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Dice } from '../dice.ts'
import type { Entry } from '../soak/ledger.ts'
import type { Rest } from '../soak/rest.ts'

interface Load {
  /** Returns the number of builds when every request has its answer. */
  stop(): Promise<number>
}

/** Few builds run on our runner, because their commands are real processes. */
interface Pace {
  buildsPerMinute: number
}

const runnerShare = 0.07
const canceledShare = 0.1
const annotatedShare = 0.3

export function startLoad(
  rest: Rest,
  dice: Dice,
  { buildsPerMinute }: Pace,
  record: (entry: Entry) => void,
): Load {
  const over = new AbortController()
  const clients: Promise<void>[] = []
  const run = async () => {
    while (!over.signal.aborted) {
      clients.push(
        buildOnce(rest, dice, record).catch((error: unknown) =>
          record({ kind: 'refusal', reason: String(error) }),
        ),
      )
      // Between half and one and a half times the interval.
      const pauseMs = (60_000 / buildsPerMinute) * (0.5 + dice.next())
      await delay(pauseMs, undefined, { signal: over.signal }).catch(() => {})
    }
  }
  const running = run()
  return {
    async stop() {
      over.abort()
      await running
      await Promise.all(clients)
      return clients.length
    },
  }
}

async function buildOnce(rest: Rest, dice: Dice, record: (entry: Entry) => void): Promise<void> {
  const pipeline = dice.happens(runnerShare) ? 'soak-runner' : 'soak-simulated'
  const isAnnotated = dice.happens(annotatedShare)
  const isCanceled = dice.happens(canceledShare)
  const cancelMs = dice.between(0, 2000)
  const key = randomUUID()
  const metaData = { key: `soak-${key}`, value: key }
  const { id: buildId, number } = await rest.post<{ id: string; number: number }>(
    `pipelines/${pipeline}/builds`,
    { commit: 'HEAD', branch: 'main', message: key, meta_data: { [metaData.key]: metaData.value } },
  )
  record({ kind: 'build', key, buildId, pipeline, number })
  record({ kind: 'meta_data', buildId, ...metaData })
  const path = `pipelines/${pipeline}/builds/${number}`
  if (isAnnotated) {
    // Appended, which only the idempotency key keeps from happening twice.
    const annotation = { context: `soak-${key}`, body: `client ${key}` }
    await rest.post(`${path}/annotations`, { ...annotation, append: true })
    record({ kind: 'annotation', buildId, ...annotation })
  }
  if (isCanceled) {
    await delay(cancelMs)
    if (await rest.tryPut(`${path}/cancel`)) record({ kind: 'cancel', buildId, at: Date.now() })
  }
}
