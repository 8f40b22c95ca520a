// How long a job may take, by what the last jobs of its queue took: those of its step, or else of its pipeline, or else all.

interface WorkOf {
  pipeline: string
  /** The key of the step, or what it has instead. */
  step: string
}

interface EndedJob extends WorkOf {
  seconds: number
}

export interface History {
  steps: ReadonlyMap<string, readonly number[]>
  pipelines: ReadonlyMap<string, readonly number[]>
  all: readonly number[]
}

/** Fewer say nothing about the next one. */
const leastKnown = 3

/** Older ones may be of another form of the step. */
const mostKnown = 50

/** `ended`: newest first. */
export function historyOf(ended: readonly EndedJob[]): History {
  const steps = new Map<string, number[]>()
  const pipelines = new Map<string, number[]>()
  for (const job of ended) {
    add(steps, stepKey(job), job.seconds)
    add(pipelines, job.pipeline, job.seconds)
  }
  return { steps, pipelines, all: ended.map(({ seconds }) => seconds) }
}

const stepKey = ({ pipeline, step }: WorkOf) => `${pipeline} ${step}`

function add(lists: Map<string, number[]>, key: string, seconds: number): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [seconds])
  else if (list.length < mostKnown) list.push(seconds)
}

/**
 * The seconds that a job may still take, each as likely as the others. None: nothing is known about such jobs, or the job runs
 * longer than all of them did.
 */
export function lengthsOf(history: History, job: WorkOf, ranSeconds = 0): readonly number[] {
  const lists = [history.steps.get(stepKey(job)), history.pipelines.get(job.pipeline), history.all]
  const known = lists.find((list) => list !== undefined && list.length >= leastKnown) ?? []
  return ranSeconds === 0
    ? known
    : known.filter((seconds) => seconds > ranSeconds).map((seconds) => seconds - ranSeconds)
}
