// Answers the engine's needs from rows in memory.

import type { Answer, Need, Surroundings, SurroundingsNeed } from '../advance/needs.ts'
import type { EdgeRow, JobRow, StepRow } from '../rows.ts'
import { isFinal, isUnoffered } from '../states.ts'
import type { Store } from './store.ts'

export function answer(store: Store, need: Need): Answer {
  switch (need.kind) {
    case 'job': {
      const job = store.jobs.get(need.jobId)
      return job === undefined ? {} : { jobs: [job], steps: withRelatives(store, [job.stepId]) }
    }
    case 'steps':
      return { steps: withRelatives(store, need.stepIds) }
    case 'jobs':
      return { jobs: need.ofSteps.flatMap((id) => store.jobsOf(id)), jobsOf: need.ofSteps }
    case 'dependents':
      return need.reach === 'next' ? nextBehind(store, need.ofSteps) : allBehind(store, need.ofSteps)
    case 'unfinished_jobs':
      return jobsWithSteps(
        store,
        store.newestJobs().filter((job) => !isFinal(job.state) && (need.only === 'all' || job.failFast)),
      )
    case 'waiting_steps':
      return stepsWithJobs(store, (step) => isWaiting(step) && step.open > 0)
    case 'impossible_steps':
      return stepsWithJobs(store, (step) => step.impossible)
    case 'unstarted_jobs':
      return unstarted(store)
    case 'pause':
      return {}
    case 'surroundings':
      return lookAround(store, need)
  }
}

function nextBehind(store: Store, stepIds: readonly string[]): Answer {
  const edges = stepIds.flatMap((id) => store.edgesFrom(id))
  return { edges, edgesFrom: stepIds, steps: withRelatives(store, targetsOf(edges)) }
}

function allBehind(store: Store, stepIds: readonly string[]): Answer {
  const reached = new Set(stepIds)
  const edges: EdgeRow[] = []
  for (const id of reached) {
    const groupId = store.steps.get(id)?.groupId ?? null
    if (groupId !== null) reached.add(groupId)
    for (const edge of store.edgesFrom(id)) {
      edges.push(edge)
      const target = store.steps.get(edge.to)
      if (target !== undefined && (isWaiting(target) || target.phase === 'not_run')) reached.add(edge.to)
    }
  }
  const steps = withRelatives(store, targetsOf(edges))
  const jobsOf = [...reached].filter((id) => !stepIds.includes(id))
  return { edges, edgesFrom: [...reached], steps, jobs: jobsOf.flatMap((id) => store.jobsOf(id)), jobsOf }
}

function jobsWithSteps(store: Store, jobs: readonly JobRow[]): Answer {
  return {
    jobs,
    steps: withRelatives(
      store,
      jobs.map((job) => job.stepId),
    ),
  }
}

function stepsWithJobs(store: Store, isWanted: (step: StepRow) => boolean): Answer {
  const jobsOf = [...store.steps.values()].filter(isWanted).map((step) => step.id)
  return { steps: withRelatives(store, jobsOf), jobs: jobsOf.flatMap((id) => store.jobsOf(id)), jobsOf }
}

function unstarted(store: Store): Answer {
  const jobs = store.newestJobs().filter((job) => isUnoffered(job.state))
  const stepIds = [...new Set(jobs.map((job) => job.stepId))]
  const { edges = [], steps = [] } = nextBehind(store, stepIds)
  return { jobs, edges, edgesFrom: stepIds, steps: [...steps, ...withRelatives(store, stepIds)] }
}

function lookAround(store: Store, need: SurroundingsNeed): Answer {
  const without = new Set(need.without)
  const remaining = store.stepsInOrder().filter((step) => !without.has(step.id))
  const before = remaining.filter((step) => step.position < need.position && step.phase !== 'ignored')
  const behind = remaining.filter((step) => step.position > need.position)
  const start = before.findLastIndex((step) => step.barrier === 'full' && step.groupId === null)
  const earlier = before.slice(Math.max(start, 0)).filter((step) => step.kind !== 'group')
  const words = new Set([...need.keys, ...need.refs])
  const named = remaining.filter((step) => step.key !== null && words.has(step.key))
  const groups = new Set(named.filter((step) => step.kind === 'group').map((step) => step.id))
  const members = remaining.filter((step) => step.groupId !== null && groups.has(step.groupId))
  const surroundings: Surroundings = {
    barrierBefore: before.findLast((step) => step.barrier !== null && step.groupId === null)?.id ?? null,
    earlier: need.coversEarlier ? earlier.map((step) => step.id) : [],
    barrierAfter:
      behind.find((step) => step.barrier === 'full' && step.groupId === null && isWaiting(step))?.id ?? null,
    keyed: [...new Set([...named, ...members].map((step) => step.id))],
    refs: store.refs.filter((ref) => need.keys.includes(ref.ref) && !without.has(ref.stepId)),
  }
  const { barrierBefore, barrierAfter, keyed, refs } = surroundings
  const ids = [
    barrierBefore,
    barrierAfter,
    ...surroundings.earlier,
    ...keyed,
    ...refs.map((ref) => ref.stepId),
  ]
  return {
    surroundings,
    steps: withRelatives(
      store,
      ids.filter((id) => id !== null),
    ),
  }
}

function withRelatives(store: Store, ids: Iterable<string>): StepRow[] {
  const found = new Map<string, StepRow>()
  const add = (id: string | null): StepRow | undefined => {
    const step = id === null ? undefined : store.steps.get(id)
    if (step !== undefined) found.set(step.id, step)
    return step
  }
  for (const id of ids) {
    if (found.has(id)) continue
    const step = add(id)
    add(step?.groupId ?? null)
    for (const uploaderId of step?.uploadPath ?? []) {
      const uploader = add(uploaderId)
      add(uploader?.groupId ?? null)
    }
  }
  return [...found.values()]
}

function targetsOf(edges: readonly EdgeRow[]): Set<string> {
  return new Set(edges.map((edge) => edge.to))
}

function isWaiting(step: StepRow): boolean {
  return step.phase === 'waiting' || step.phase === 'blocked'
}
