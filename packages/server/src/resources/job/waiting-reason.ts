// The sentences about a job that waits in its queue.
import type { FairTurn } from '../../conductor/dispatch/fair-order.ts'

interface Scheduled {
  queue: {
    key: string
    dispatch_paused_at: string | null
    dispatch_paused_note: string | null
    dispatch_paused_by: { name: string } | null
  }
  rules: readonly string[]
  jobsAhead: number
  eligibleAgents: number
  /** Set in fair queues. */
  turn?: (FairTurn & { fairBy: FairBy }) | undefined
}

export type FairBy = 'none' | 'pipeline' | 'team' | 'creator'

interface Judged {
  code: 'queue_paused' | 'no_agent' | 'machines_limited' | 'share_turn' | 'agents_busy' | 'jobs_ahead'
  reason: string
}

export function judgeScheduled({ queue, rules, jobsAhead, eligibleAgents, turn }: Scheduled): Judged {
  if (queue.dispatch_paused_at !== null) {
    const by = queue.dispatch_paused_by === null ? '' : ` by ${queue.dispatch_paused_by.name}`
    const note = queue.dispatch_paused_note === null ? '' : `: ${queue.dispatch_paused_note}`
    return { code: 'queue_paused', reason: `The queue "${queue.key}" is paused${by}${note}.` }
  }
  if (eligibleAgents === 0) {
    const wanted = rules.filter((rule) => !rule.startsWith('queue='))
    const matching = wanted.length === 0 ? '' : ` that has ${listed(wanted)}`
    return { code: 'no_agent', reason: `The queue "${queue.key}" has no connected agent${matching}.` }
  }
  if (turn?.machines) {
    const { slots } = turn.machines
    const used = slots === 1 ? 'The only slot' : `All ${slots} slots`
    return {
      code: 'machines_limited',
      reason: `${used} of machines in the queue "${queue.key}" ${slots === 1 ? 'is' : 'are'} in use, and jobs of people come first.`,
    }
  }
  if (turn !== undefined && jobsAhead > 0)
    return { code: 'share_turn', reason: shareTurn(turn, jobsAhead, queue.key) }
  return jobsAhead === 0
    ? { code: 'agents_busy', reason: `The job is the next of the queue "${queue.key}"; its agents are busy.` }
    : { code: 'jobs_ahead', reason: `${comingFirst(jobsAhead)} in the queue "${queue.key}".` }
}

function shareTurn(
  { fairBy, ownAhead }: { fairBy: FairBy; ownAhead: number },
  jobsAhead: number,
  key: string,
): string {
  const jobs = jobsAhead === 1 ? '1 job' : `${jobsAhead} jobs`
  return ownAhead === 0
    ? `Its ${fairBy} is next after ${jobs} in the queue "${key}".`
    : `${comingFirst(jobsAhead)} in the queue "${key}", ${ownAhead} of them of the same ${fairBy}.`
}

export const comingFirst = (jobs: number): string =>
  jobs === 1 ? '1 job comes first' : `${jobs} jobs come first`

const mostNamed = 5

/** `a`, `a and b`, `a, b and 7 others`. */
export function listed(names: readonly string[]): string {
  const named =
    names.length > mostNamed
      ? [...names.slice(0, mostNamed - 1), `${names.length - mostNamed + 1} others`]
      : names
  return named.length < 2 ? named.join('') : `${named.slice(0, -1).join(', ')} and ${named.at(-1)}`
}
