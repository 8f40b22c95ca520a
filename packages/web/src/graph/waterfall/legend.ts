import type { Tone } from '../../parts/state-badge/states.ts'
import type { Job } from '../jobs/job.ts'
import { spansOf, type SpanKind } from './job-spans.ts'

interface Legend {
  kinds: ReadonlySet<SpanKind>
  /** What the bars of the jobs that have run say, by their colour, in the order of `tones`. */
  ran: ReadonlyArray<[tone: Tone, words: string]>
}

const tones: readonly Tone[] = ['running', 'passed', 'failed', 'warn', 'blocked', 'idle']

/** The bars that are drawn for these attempts. */
export function legendOf(attempts: readonly Job[]): Legend {
  const kinds = new Set<SpanKind>()
  const labels = new Map<Tone, Set<string>>(tones.map((tone) => [tone, new Set<string>()]))
  for (const job of attempts) {
    for (const { kind } of spansOf(job)) {
      kinds.add(kind)
      if (kind === 'running') labels.get(job.look.tone)?.add(job.look.label.toLowerCase())
    }
  }
  const ran = tones.flatMap((tone): Legend['ran'] => {
    const words = [...(labels.get(tone) ?? [])]
    return words.length === 0 ? [] : [[tone, words.sort().join(', ')]]
  })
  return { kinds, ran }
}
