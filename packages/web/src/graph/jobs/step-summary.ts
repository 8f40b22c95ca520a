// What the newest jobs of a step add up to.
import { forBuckets, type Counts } from './buckets.ts'
import type { Job } from './job.ts'
import { stateLook, type StateLook } from '../../parts/state-badge/states.ts'

export interface StepSummary {
  /** null: the step has no jobs, as in a preview. */
  look: StateLook | null
  /** The newest attempts. */
  jobs: readonly Job[]
  total: number
  counts: Counts
  startedMs: number | null
  /** null: a job has not ended. */
  finishedMs: number | null
}

const READY = new Set(['scheduled', 'reserved', 'limited', 'limiting'])

/** `jobs` are the newest attempts. */
export function summarize(jobs: readonly Job[]): StepSummary {
  const counts = forBuckets(() => 0)
  let startedMs: number | null = null
  let endMs: number | null = null
  let isOver = true
  for (const job of jobs) {
    const { bucket } = job
    counts[bucket]++
    if (bucket === 'running' || bucket === 'waiting' || bucket === 'blocked') isOver = false
    if (job.startedMs !== null && (startedMs === null || job.startedMs < startedMs)) startedMs = job.startedMs
    if (job.finishedMs !== null && (endMs === null || job.finishedMs > endMs)) endMs = job.finishedMs
  }
  const look = lookOf(jobs, counts)
  return { look, jobs, total: jobs.length, counts, startedMs, finishedMs: isOver ? endMs : null }
}

function lookOf(jobs: readonly Job[], counts: Counts): StateLook | null {
  const [first] = jobs
  if (first === undefined) return null
  if (jobs.length === 1) return first.look
  const isOpen = counts.running + counts.waiting + counts.blocked > 0
  if (counts.failed > 0) return stateLook('step', isOpen ? 'failing' : 'hard_failed')
  if (counts.running > 0) return stateLook('step', 'running')
  if (counts.blocked > 0) return stateLook('step', 'waiting_for_input')
  if (counts.waiting > 0) {
    return stateLook(
      'step',
      jobs.some(({ state }) => READY.has(state)) ? 'ready' : 'waiting_for_dependencies',
    )
  }
  if (counts.soft > 0) return stateLook('step', 'soft_failed')
  if (counts.unrun === 0) return stateLook('step', 'passed')
  // Of parallel jobs that did not all run, the ones that did not say more than those that passed.
  const unrun = jobs.find(({ bucket }) => bucket === 'unrun') ?? first
  return counts.passed > 0 && unrun.state !== 'canceled' ? stateLook('step', 'passed') : unrun.look
}
