// Runs pipelines written in YAML in memory, naming jobs by what a reader sees: a script by its label or
// command, a manual job by its label, a waiter as `wait`, a trigger by its pipeline. The second of the same
// name is `name 2`.

import type { Outcome } from '../src/advance.ts'
import type { BuildEvent } from '../src/advance/events.ts'
import type { Effect } from '../src/advance/effects.ts'
import type { ConditionFacts } from '../src/conditions/facts.ts'
import { MemoryBuild } from '../src/memory/build.ts'
import type { JobRow, StepRow } from '../src/rows.ts'
import { shownBuildState, shownJobState } from '../src/states.ts'
import type { PipelineDocument } from '../src/steps/types.ts'
import { mustRead } from './reading.ts'
import { findDrift } from './recount.ts'

type WithoutTime<Event> = Event extends { at: string } ? Omit<Event, 'at'> : never

interface Facts {
  branch?: string
  message?: string
}

export function someFacts({ branch = 'main', message = 'hello' }: Facts = {}): ConditionFacts {
  return {
    build: {
      id: 'b1',
      number: 1,
      branch,
      commit: 'HEAD',
      tag: null,
      message,
      state: 'scheduled',
      blockedState: null,
      fixed: null,
      source: 'api',
      author: null,
      creator: null,
      pullRequest: null,
    },
    pipeline: { id: 'p1', slug: 'app', defaultBranch: 'main', repository: null },
    organization: { id: 'o1', slug: 'acme' },
    env: () => undefined,
  }
}

export function counter(prefix: string): () => string {
  let last = 0
  return () => {
    last += 1
    return `${prefix}${String(last).padStart(5, '0')}`
  }
}

export class Run {
  readonly build: MemoryBuild
  readonly effects: Effect[] = []
  private clock = 0
  private readonly facts: ConditionFacts

  constructor(document: PipelineDocument, facts: Facts = {}, prefix = 'id-') {
    this.facts = someFacts(facts)
    this.build = new MemoryBuild({ scheduledAt: this.now(), mint: counter(prefix) })
    const outcome = this.build.begin(document, this.facts, this.now())
    if (!outcome.ok) throw new Error(outcome.message)
    if ('effects' in outcome) this.effects.push(...outcome.effects)
    this.check()
  }

  /** REST states by job name, in display order. */
  get states(): Record<string, string> {
    return Object.fromEntries(this.named().map(([name, job]) => [name, shownJobState(job.state)]))
  }

  get state(): string {
    const { state, blockedState } = this.build.store.build
    return shownBuildState(state, blockedState)
  }

  get row(): MemoryBuild['store']['build'] {
    return this.build.store.build
  }

  named(): [string, JobRow][] {
    const uses = new Map<string, number>()
    return this.build.store.stepsInOrder().flatMap((step) =>
      this.build.store.jobsOf(step.id).map((job): [string, JobRow] => {
        const name = this.nameOf(job)
        const use = (uses.get(name) ?? 0) + 1
        uses.set(name, use)
        return [use === 1 ? name : `${name} ${use}`, job]
      }),
    )
  }

  job(name: string): JobRow {
    const found = this.named().find(([other]) => other === name)
    if (found === undefined) throw new Error(`No job ${name} among ${Object.keys(this.states).join(', ')}`)
    return found[1]
  }

  step(name: string): StepRow {
    const step = this.build.store.steps.get(this.job(name).stepId)
    if (step === undefined) throw new Error(`No step for ${name}`)
    return step
  }

  try(event: WithoutTime<BuildEvent>): Outcome {
    const outcome = this.build.apply({ ...event, at: this.now() })
    if (outcome.ok) this.effects.push(...outcome.effects)
    this.check()
    return outcome
  }

  must(event: WithoutTime<BuildEvent>): Effect[] {
    const outcome = this.try(event)
    if (!outcome.ok) throw new Error(`${event.type}: ${outcome.message}`)
    return outcome.effects
  }

  refused(event: WithoutTime<BuildEvent>): string {
    const outcome = this.try(event)
    if (outcome.ok) throw new Error(`${event.type} was not refused`)
    return outcome.reason
  }

  start(...names: string[]): void {
    for (const name of names) {
      const jobId = this.job(name).id
      for (const type of ['assign', 'accept', 'start'] as const) this.must({ type, jobId })
    }
  }

  /** Ends a job, starting it first if need be. */
  exit(name: string, exitStatus: number, end: { signal?: string; signalReason?: string } = {}): Effect[] {
    if (this.job(name).state === 'scheduled') this.start(name)
    const { signal = null, signalReason = null } = end
    return this.must({ type: 'finish', jobId: this.job(name).id, exitStatus, signal, signalReason })
  }

  pass(...names: string[]): void {
    for (const name of names) this.exit(name, 0)
  }

  cancel(name: string): void {
    this.must({ type: 'cancel_job', jobId: this.job(name).id })
  }

  unblock(name: string, answers: Record<string, string | string[]> = {}): Effect[] {
    return this.must({ type: 'unblock', jobId: this.job(name).id, answers, by: 'ada' })
  }

  retry(name: string): void {
    this.must({ type: 'retry', jobId: this.job(name).id, parentCanceled: false })
  }

  upload(name: string, yaml: string, options: { replace?: boolean } = {}): void {
    this.must(this.uploadEvent(name, mustRead(yaml), options))
  }

  uploadRefused(name: string, document: PipelineDocument): string {
    return this.refused(this.uploadEvent(name, document))
  }

  uploadEvent(
    name: string,
    document: PipelineDocument,
    { replace = false }: { replace?: boolean } = {},
  ): WithoutTime<BuildEvent> {
    return { type: 'upload', jobId: this.job(name).id, document, facts: this.facts, replace }
  }

  now(): string {
    this.clock += 1
    return new Date(Date.UTC(2030, 0, 1, 0, 0, this.clock)).toISOString()
  }

  private check(): void {
    const drift = findDrift(this.build.store)
    if (drift.length > 0) throw new Error(drift.join('\n'))
  }

  private nameOf(job: JobRow): string {
    const work = this.build.store.work.get(job.id)
    switch (work?.kind) {
      case 'script':
        return work.label ?? work.command ?? 'script'
      case 'manual':
        return work.label ?? 'block'
      case 'trigger':
        return work.pipeline
      case 'waiter':
      case undefined:
        return 'wait'
    }
  }
}

/** `steps:` and what follows, or a bare list. */
export function run(yaml: string, facts: Facts = {}): Run {
  return new Run(mustRead(yaml), facts)
}
