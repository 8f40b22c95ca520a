// The sentences about a job that waits in its queue.

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
}

interface Judged {
  code: 'queue_paused' | 'no_agent' | 'agents_busy' | 'jobs_ahead'
  reason: string
}

export function judgeScheduled({ queue, rules, jobsAhead, eligibleAgents }: Scheduled): Judged {
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
  return jobsAhead === 0
    ? { code: 'agents_busy', reason: `The job is the next of the queue "${queue.key}"; its agents are busy.` }
    : { code: 'jobs_ahead', reason: `${comingFirst(jobsAhead)} in the queue "${queue.key}".` }
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
