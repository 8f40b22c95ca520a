// Why jobs failed, told from each other by the fingerprints of their failing rows.
import { batch } from '../../../db/batch.ts'
import type { RequestContext } from '../../../context.ts'
import { fingerprintOf, maskedText } from '../log/findings/fingerprint.ts'
import type { FoundLog } from './logs.ts'
import * as summaries from './queries.ts'
import type { SummarizedCause } from './schema.ts'

type Cause = NonNullable<SummarizedCause>

/** By job. */
export async function findCauses(
  { ctx, org, caller }: RequestContext,
  buildId: string,
  logs: ReadonlyMap<string, FoundLog>,
): Promise<Map<string, Cause>> {
  const rows = new Map<string, { fingerprint: string; text: string }>()
  for (const [jobId, log] of logs) {
    const text = log.status === 'shown' ? failingText(log.excerpt) : undefined
    const fingerprint = text === undefined ? null : fingerprintOf(text)
    if (text !== undefined && fingerprint !== null) rows.set(jobId, { fingerprint, text: maskedText(text) })
  }
  const known = [...rows.values()].map(({ fingerprint }) => fingerprint)
  if (known.length === 0) return new Map()
  const causes = [...new Set(known)]
  const [counted] = await batch(ctx.db, [summaries.countCauses(org, caller, buildId, causes)])
  return new Map(
    [...rows].flatMap(([jobId, { fingerprint, text }]) => {
      const found = counted.find(({ cause }) => cause === fingerprint)
      if (found === undefined) return []
      // Those that were read just now may not be counted yet.
      const jobs = Math.max(found.jobs, known.filter((each) => each === fingerprint).length)
      return [[jobId, { fingerprint, text, jobs, builds: found.builds, since: found.since }] as const]
    }),
  )
}

const failingText = ({
  rows,
  failing_row: failing,
}: {
  rows: ReadonlyArray<{ row: number | null; text: string }>
  failing_row: number | null
}) => (failing === null ? undefined : rows.find(({ row }) => row === failing)?.text)
