// Jobs that failed alike, such as those of a parallel step, are one entry: the first of them, and the names of the others.

interface Failed {
  exit_status: number | null
  reason: string | null
  cause: { fingerprint: string } | null
  log: { failing_row: number | null; rows: ReadonlyArray<{ row: number | null; text: string }> }
}

interface FailureGroup<Job> {
  first: Job
  others: Job[]
}

export function groupFailures<Job extends Failed>(jobs: readonly Job[]): Array<FailureGroup<Job>> {
  const groups = new Map<string, FailureGroup<Job>>()
  for (const [at, job] of jobs.entries()) {
    const key = keyOf(job) ?? `job ${at}`
    const known = groups.get(key)
    if (known === undefined) groups.set(key, { first: job, others: [] })
    else known.others.push(job)
  }
  return [...groups.values()]
}

/** null: nothing tells why it failed, so it is like no other. Numbers, such as times and ports, make no difference. */
function keyOf({
  exit_status: exit,
  reason,
  cause,
  log: { failing_row: failing, rows },
}: Failed): string | null {
  if (cause !== null) return JSON.stringify([exit, reason, cause.fingerprint])
  const text = rows.find(({ row }) => row !== null && row === failing)?.text.trim() ?? ''
  return text === '' ? null : JSON.stringify([exit, reason, text.replaceAll(/\d+/g, '0')])
}

/** Of the text of a cause: what is the same in all failures with it. */
export const longestPart = (text: string): string =>
  text
    .split(/<(?:id|time|path|hex|n)>/)
    .reduce((longest, part) => (part.length > longest.length ? part : longest), '')
    .trim()
    .slice(0, 200)
