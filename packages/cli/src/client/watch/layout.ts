// Lays a build out in the lines of a terminal. If the terminal is too low, steps that have passed are folded first, then steps
// that wait. Failed, blocked and running steps stay.
import { stateText, type Style } from '../style.ts'
import { oneLine, shortened, widthOf } from '../text.ts'
import { describeDuration } from '../times.ts'
import { hasEnded, stageOf, type GraphStep, type Stage, type WatchedJob } from './graph.ts'
import type { WatchedBuild } from './model.ts'

interface Frame {
  width: number
  height: number
  now: number
  style: Style
  /** null: connected. */
  problem: string | null
  /** What Ctrl-C does; null: the lines are drawn once. */
  interrupt: string | null
}

interface Entry {
  text: string
  /** Lower ones stay longer. */
  rank: 0 | 1 | 2 | 3
}

export function layOut(watched: WatchedBuild, frame: Frame): string[] {
  const head = headOf(watched, frame)
  const foot = footOf(watched, frame)
  const room = Math.max(1, frame.height - head.length - foot.length)
  return [...head, ...fit(entriesOf(watched, frame), room, frame), ...foot].slice(0, frame.height)
}

function headOf({ build }: WatchedBuild, { width, style, now }: Frame): string[] {
  const state = build.blocked ? 'blocked' : build.state
  const time = durationOf(build.started_at, build.finished_at, now)
  const title = `Build #${build.number} of ${oneLine(build.pipeline_slug)} on ${oneLine(build.branch)}`
  const room = width - widthOf(plainState(style, state)) - time.length - 4
  const message = oneLine((build.message ?? '').split('\n')[0] ?? '')
  return [
    `${style.bold(shortened(title, Math.max(4, room)))}  ${stateText(style, state)}${time === '' ? '' : `  ${time}`}`,
    ...(message === '' ? [] : [style.dim(shortened(message, width))]),
  ]
}

function footOf(watched: WatchedBuild, { width, style, problem, interrupt }: Frame): string[] {
  const counts = countStages(watched.steps.filter(isShown).flatMap((step) => watched.jobsOf(step)))
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
  const parts = [`${total} ${total === 1 ? 'job' : 'jobs'}`, ...describeCounts(counts)]
  const lines = [style.dim(shortened(parts.join(', '), width))]
  if (problem !== null) lines.push(style.paint('yellow', shortened(oneLine(problem), width)))
  if (interrupt !== null && !hasEnded(watched.build)) lines.push(style.dim(shortened(interrupt, width)))
  return lines
}

const WORDS: ReadonlyArray<readonly [Stage, string]> = [
  ['failed', 'failed'],
  ['blocked', 'blocked'],
  ['active', 'running'],
  ['passed', 'passed'],
  ['waiting', 'waiting'],
  ['left out', 'not run'],
]

function describeCounts(counts: ReadonlyMap<Stage, number>): string[] {
  return WORDS.flatMap(([stage, word]) => {
    const count = counts.get(stage) ?? 0
    return count === 0 ? [] : [`${count} ${word}`]
  })
}

function countStages(jobs: readonly WatchedJob[]): Map<Stage, number> {
  const counts = new Map<Stage, number>()
  for (const job of jobs) {
    const stage = stageOf(job)
    counts.set(stage, (counts.get(stage) ?? 0) + 1)
  }
  return counts
}

/** Waits say nothing that their neighbors do not say. */
const isShown = ({ kind }: GraphStep) => kind !== 'wait' && kind !== 'group'

function entriesOf(watched: WatchedBuild, frame: Frame): Entry[] {
  const entries: Entry[] = []
  for (const step of watched.steps) {
    if (step.kind === 'group') entries.push(...groupEntries(watched, step, frame))
    else if (isShown(step) && step.group_id === null) entries.push(...stepEntries(watched, step, frame, ''))
  }
  return entries
}

/** A group of which nothing is left to see is one line. */
function groupEntries(watched: WatchedBuild, group: GraphStep, frame: Frame): Entry[] {
  const steps = watched.steps.filter((step) => step.group_id === group.id && isShown(step))
  const jobs = steps.flatMap((step) => watched.jobsOf(step))
  const head = summaryEntry(watched.nameOfStep(group), jobs, frame, '')
  if (head.rank >= 2) return [head]
  return [head, ...steps.flatMap((step) => stepEntries(watched, step, frame, '  '))]
}

const MOST_FAILED_JOBS = 5

function stepEntries(watched: WatchedBuild, step: GraphStep, frame: Frame, indent: string): Entry[] {
  const jobs = watched.jobsOf(step)
  const [only, ...others] = jobs
  if (only === undefined) return []
  if (others.length === 0) return [jobEntry(watched, only, frame, indent)]
  const failed = jobs.filter((job) => stageOf(job) === 'failed')
  const more = failed.length - MOST_FAILED_JOBS
  return [
    summaryEntry(watched.nameOfStep(step), jobs, frame, indent),
    ...failed.slice(0, MOST_FAILED_JOBS).map((job) => jobEntry(watched, job, frame, `${indent}  `)),
    ...(more > 0 ? [{ text: `${indent}  … ${more} more failed`, rank: 1 as const }] : []),
  ]
}

const RANKS: Readonly<Record<Stage, Entry['rank']>> = {
  failed: 0,
  blocked: 0,
  active: 1,
  waiting: 2,
  passed: 3,
  'left out': 3,
}

function jobEntry(watched: WatchedBuild, job: WatchedJob, frame: Frame, indent: string): Entry {
  const details = [
    durationOf(job.startedAt, job.finishedAt, frame.now),
    job.note === null ? '' : oneLine(job.note),
    job.isSoftFailed ? 'does not count' : '',
    job.attempt > 0 ? `attempt ${job.attempt + 1}` : '',
  ].filter((detail) => detail !== '')
  return {
    text: lineOf(frame, { indent, state: job.state, name: watched.nameOfJob(job), details }),
    rank: RANKS[stageOf(job)],
  }
}

/** One line for many jobs. */
function summaryEntry(name: string, jobs: readonly WatchedJob[], frame: Frame, indent: string): Entry {
  const counts = countStages(jobs)
  const stage = WORDS.map(([each]) => each).find((each) => counts.has(each)) ?? 'waiting'
  const state = stage === 'failed' && counts.has('active') ? 'failing' : STATES[stage]
  const starts = jobs.flatMap(({ startedAt }) => startedAt ?? [])
  const ends = jobs.flatMap(({ finishedAt }) => finishedAt ?? [])
  const isOver = !counts.has('active') && !counts.has('waiting') && !counts.has('blocked')
  const from = starts.length === 0 ? null : Math.min(...starts)
  const to = isOver && ends.length > 0 ? Math.max(...ends) : null
  const parts = counts.size > 1 || jobs.length > 1 ? describeCounts(counts) : []
  const details = [durationOf(from, to, frame.now), ...parts].filter((detail) => detail !== '')
  return { text: lineOf(frame, { indent, state, name, details }), rank: RANKS[stage] }
}

const STATES: Readonly<Record<Stage, string>> = {
  failed: 'failed',
  blocked: 'blocked',
  active: 'running',
  waiting: 'waiting',
  passed: 'passed',
  'left out': 'skipped',
}

interface Line {
  indent: string
  state: string
  name: string
  details: readonly string[]
}

const STATE_WIDTH = 12

function lineOf({ width, style }: Frame, { indent, state, name, details }: Line): string {
  const plain = plainState(style, state)
  const padding = ' '.repeat(Math.max(1, STATE_WIDTH - widthOf(plain)))
  const start = indent.length + widthOf(plain) + padding.length
  const detail = details.join(', ')
  const nameRoom = Math.max(8, width - start - (detail === '' ? 0 : Math.min(widthOf(detail), 30) + 2))
  const shownName = shortened(name, nameRoom)
  const rest = width - start - widthOf(shownName) - 2
  const shownDetail = detail === '' || rest < 3 ? '' : `  ${style.dim(shortened(detail, rest))}`
  return `${indent}${stateText(style, state)}${padding}${shownName}${shownDetail}`
}

const plainState = (style: Style, state: string) => stateText({ ...style, paint: (_, text) => text }, state)

function durationOf(from: number | null, to: number | null, now: number): string {
  return from === null ? '' : describeDuration((to ?? now) - from)
}

function fit(entries: readonly Entry[], room: number, { style }: Frame): string[] {
  let shown = entries
  for (const [rank, text] of FOLDS) {
    if (shown.length <= room) break
    shown = fold(shown, rank, (count) => style.dim(`${text} (${count} lines)`))
  }
  if (shown.length <= room) return shown.map(({ text }) => text)
  const kept = new Set(
    [...shown.keys()]
      .toSorted((one, other) => (shown[one]?.rank ?? 0) - (shown[other]?.rank ?? 0) || one - other)
      .slice(0, room - 1),
  )
  const lines = shown.filter((_, index) => kept.has(index)).map(({ text }) => text)
  return [...lines, style.dim(`… ${shown.length - lines.length} more lines`)]
}

const FOLDS = [
  [3, '… passed or not run'],
  [2, '… waiting'],
] as const

/** Makes neighbors of this rank one line. */
function fold(entries: readonly Entry[], rank: Entry['rank'], describe: (count: number) => string): Entry[] {
  const folded: Entry[] = []
  for (let at = 0; at < entries.length;) {
    let end = at
    while (entries[end]?.rank === rank) end += 1
    const entry = entries[at]
    if (end - at > 1) folded.push({ text: describe(end - at), rank })
    else if (entry !== undefined) folded.push(entry)
    at = Math.max(end, at + 1)
  }
  return folded
}
