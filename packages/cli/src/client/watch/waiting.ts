// Says why nothing happens in a watched build: when nothing has changed for ten seconds and no job runs, it asks the server
// why the first job waits.
import type { JobWaiting } from '@millrace/server/wire.ts'
import { Refused } from '../../refused.ts'
import type { Api } from '../api.ts'
import { oneLine } from '../text.ts'
import { describeStart } from '../times.ts'
import { hasEnded, stageOf, type WatchedJob } from './graph.ts'
import type { WatchedBuild } from './model.ts'

const QUIET_MS = 10_000
/** An estimate that moves by more is said again. */
const MOVED_MS = 120_000

interface Reason {
  text: string
  /** null: not known. */
  startMs: number | null
}

export class WaitingReasons {
  private readonly api: Api
  private readonly say: (text: string) => void
  /** With the last estimate of each. */
  private readonly said = new Map<string, number | null>()
  private readonly quietMs: number
  private timer: NodeJS.Timeout | null = null

  constructor(api: Api, say: (text: string) => void, quietMs = QUIET_MS) {
    this.api = api
    this.say = say
    this.quietMs = quietMs
  }

  /** Something has changed, or watching begins. */
  expect(watched: WatchedBuild): void {
    this.end()
    this.timer = setTimeout(() => void this.look(watched), this.quietMs)
  }

  end(): void {
    if (this.timer !== null) clearTimeout(this.timer)
    this.timer = null
  }

  /** A reason is said once, and again with another estimate. */
  private async look(watched: WatchedBuild): Promise<void> {
    const { timer } = this
    const job = findWaiting(watched)
    const reason = job === null ? null : await this.reasonOf(job)
    // Meanwhile something may have changed, or watching may have ended.
    if (this.timer !== timer) return
    if (job !== null && reason !== null) {
      const text = `${watched.nameOfJob(job)} waits: ${reason.text}`
      if (this.isNew(text, reason.startMs)) {
        this.say(reason.startMs === null ? text : `${text} ${startText(reason.startMs)}`)
        this.said.set(text, reason.startMs)
      }
    }
    this.expect(watched)
  }

  private isNew(text: string, startMs: number | null): boolean {
    const before = this.said.get(text)
    if (before === undefined) return true
    return startMs !== null && (before === null || Math.abs(startMs - before) > MOVED_MS)
  }

  private async reasonOf({ id }: WatchedJob): Promise<Reason | null> {
    try {
      const { code, reason, ...waiting } = await this.api.get<JobWaiting>(`jobs/${id}/waiting`)
      // Older servers have no estimate.
      const { estimated_start_at: at }: Partial<JobWaiting> = waiting
      return code === 'not_waiting' ? null : { text: oneLine(reason), startMs: at ? Date.parse(at) : null }
    } catch (error) {
      // The feed reports a server that is away.
      if (error instanceof Refused) return null
      throw error
    }
  }
}

const startText = (startMs: number) => `It probably starts ${describeStart(new Date(startMs).toISOString())}.`

/** null: a job runs, or a step waits for a person, which was said. */
function findWaiting(watched: WatchedBuild): WatchedJob | null {
  if (hasEnded(watched.build)) return null
  const jobs = watched.steps.filter(({ kind }) => kind !== 'wait').flatMap((step) => watched.jobsOf(step))
  if (jobs.some((job) => ['active', 'blocked'].includes(stageOf(job)))) return null
  return jobs.find((job) => stageOf(job) === 'waiting') ?? null
}
