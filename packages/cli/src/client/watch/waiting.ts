// Says why nothing happens in a watched build: when nothing has changed for ten seconds and no job runs, it asks the server
// why the first job waits.
import type { JobWaiting } from '@millrace/server/wire.ts'
import { Refused } from '../../refused.ts'
import type { Api } from '../api.ts'
import { oneLine } from '../text.ts'
import { hasEnded, stageOf, type WatchedJob } from './graph.ts'
import type { WatchedBuild } from './model.ts'

const QUIET_MS = 10_000

export class WaitingReasons {
  private readonly api: Api
  private readonly say: (text: string) => void
  private readonly said = new Set<string>()
  private timer: NodeJS.Timeout | null = null

  constructor(api: Api, say: (text: string) => void) {
    this.api = api
    this.say = say
  }

  /** Something has changed, or watching begins. */
  expect(watched: WatchedBuild): void {
    this.end()
    this.timer = setTimeout(() => void this.look(watched), QUIET_MS)
  }

  end(): void {
    if (this.timer !== null) clearTimeout(this.timer)
    this.timer = null
  }

  /** A reason is said once. */
  private async look(watched: WatchedBuild): Promise<void> {
    const { timer } = this
    const job = findWaiting(watched)
    const reason = job === null ? null : await this.reasonOf(job)
    // Meanwhile something may have changed, or watching may have ended.
    if (this.timer !== timer) return
    if (job !== null && reason !== null) {
      const text = `${watched.nameOfJob(job)} waits: ${reason}`
      if (!this.said.has(text)) this.say(text)
      this.said.add(text)
    }
    this.expect(watched)
  }

  private async reasonOf({ id }: WatchedJob): Promise<string | null> {
    try {
      const { code, reason } = await this.api.get<JobWaiting>(`jobs/${id}/waiting`)
      return code === 'not_waiting' ? null : oneLine(reason)
    } catch (error) {
      // The feed reports a server that is away.
      if (error instanceof Refused) return null
      throw error
    }
  }
}

/** null: a job runs, or a step waits for a person, which was said. */
function findWaiting(watched: WatchedBuild): WatchedJob | null {
  if (hasEnded(watched.build)) return null
  const jobs = watched.steps.filter(({ kind }) => kind !== 'wait').flatMap((step) => watched.jobsOf(step))
  if (jobs.some((job) => ['active', 'blocked'].includes(stageOf(job)))) return null
  return jobs.find((job) => stageOf(job) === 'waiting') ?? null
}
