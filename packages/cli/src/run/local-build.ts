// One build on this machine. The engine decides, and this file executes. Every change goes through `apply`; then `proceed`
// does everything that can be done next.
//
// As on a server, the build starts with a job that uploads the pipeline file. Here that job has no process and is not
// shown.
import { randomUUID } from 'node:crypto'
import type { Outcome } from '@millrace/engine/advance.ts'
import type { Effect } from '@millrace/engine/advance/effects.ts'
import type { BuildEvent } from '@millrace/engine/advance/events.ts'
import type { Env } from '@millrace/engine/environment.ts'
import type { Answers } from '@millrace/engine/manual-fields.ts'
import { MemoryBuild } from '@millrace/engine/memory/build.ts'
import { decideGroupSlots } from '@millrace/engine/memory/slots.ts'
import type { Problem } from '@millrace/engine/problem.ts'
import type { JobRow } from '@millrace/engine/rows.ts'
import { isFinalBuild } from '@millrace/engine/states.ts'
import { readPipeline } from '@millrace/engine/steps/document.ts'
import type { PipelineDocument } from '@millrace/engine/steps/types.ts'
import type { AgentHost, Upload } from './agent-commands/agent-command.ts'
import type { ArtifactStore } from './agent-commands/artifact-store.ts'
import { BuildVariables } from './build-variables.ts'
import { findChangedPaths, type Checkout } from './checkout.ts'
import { countSteps } from './counting.ts'
import type { JobRunner } from './job-runner.ts'
import { findNextScript, getManual, getScript } from './job-lookup.ts'
import { nameOfJob } from './names.ts'
import { describeChange } from './narration.ts'
import type { PipelineFile } from './pipeline-file.ts'
import { formatProblems } from './problems.ts'
import { answersAmong, askPerson } from './questions.ts'
import { readUpload } from './read-upload.ts'
import { reportOn, type RunReport } from './report.ts'
import type { Screen } from './screen.ts'
import type { Terminal } from './terminal.ts'

export interface BuildSettings {
  checkout: Checkout
  /** How many jobs run at once. */
  jobs: number
  /** The build's own variables. */
  env: Env
  outerEnv: Env
  /** Values for the fields of block and input steps. */
  fields: ReadonlyMap<string, readonly string[]>
  unblock: boolean
  skipTriggers: boolean
  /** Calls back after that many minutes. Returns a function that cancels it. */
  afterMinutes: (minutes: number, callback: () => void) => () => void
}

type WithoutTime<Event> = Event extends { at: string } ? Omit<Event, 'at'> : never
type Uploaded = { ok: true; steps: number } | { ok: false; problems: Problem[] }

export class LocalBuild implements AgentHost {
  readonly metaData = new Map<string, string>()
  readonly artifacts: ArtifactStore
  readonly finished: Promise<void>
  private readonly settings: BuildSettings
  private readonly runner: JobRunner
  private readonly screen: Screen
  private readonly terminal: Terminal
  private readonly build: MemoryBuild
  private readonly variables: BuildVariables
  private readonly first: JobRow
  private busy = 0
  private readonly refusedManual = new Set<string>()
  private readonly changedGroups = new Set<string>()
  private isSettling = false
  private isAsking = false
  private interrupts = 0
  private finish: () => void = () => {}
  private fail: (error: unknown) => void = () => {}

  constructor(settings: BuildSettings, runner: JobRunner, screen: Screen, terminal: Terminal) {
    this.settings = settings
    this.runner = runner
    this.artifacts = runner.artifacts
    this.screen = screen
    this.terminal = terminal
    this.build = new MemoryBuild({ scheduledAt: now(), mint: randomUUID })
    this.variables = new BuildVariables(this.build.store, settings.checkout, settings.env)
    this.first = this.beginWithUploader()
    this.finished = new Promise((resolve, reject) => {
      this.finish = resolve
      this.fail = reject
    })
  }

  /** Adds the file's steps to the build and starts runnable jobs. */
  async begin(file: PipelineFile): Promise<Uploaded> {
    const jobId = this.first.id
    const env = new Map(Object.entries({ ...this.settings.outerEnv, ...this.variables.forJob(this.first) }))
    const uploaded = await this.addSteps(jobId, { file, replace: false, lookup: (name) => env.get(name) })
    if (!uploaded.ok) return uploaded
    this.must({ type: 'finish', jobId, exitStatus: 0, signal: null, signalReason: null })
    this.proceed()
    return uploaded
  }

  async upload(jobId: string, upload: Upload): ReturnType<AgentHost['upload']> {
    const uploaded = await this.addSteps(jobId, upload)
    this.proceed()
    return uploaded.ok ? uploaded : { ok: false, message: formatProblems(upload.file, uploaded.problems) }
  }

  annotate(jobId: string, style: string, body: string): void {
    const job = this.build.store.jobs.get(jobId)
    const name = job === undefined ? 'a job' : nameOfJob(this.build.store, job)
    this.screen.say(`${name} annotates (${style}):\n${body}`)
  }

  removeAnnotation(jobId: string, context: string): void {
    const job = this.build.store.jobs.get(jobId)
    const name = job === undefined ? 'a job' : nameOfJob(this.build.store, job)
    this.screen.say(`${name} removes the annotation ${context}.`)
  }

  jobFilter(step: string | null, includesRetried: boolean): (jobId: string) => boolean {
    const { store } = this.build
    return (jobId) => {
      const job = store.jobs.get(jobId)
      if (job === undefined || (job.retriedInJobId !== null && !includesRetried)) return false
      if (step === null || step === jobId) return true
      return store.steps.get(job.stepId)?.key === step || getScript(store, job).label === step
    }
  }

  /** The first call cancels the build; the second kills its jobs. */
  interrupt(): void {
    this.interrupts += 1
    if (this.interrupts > 1) {
      this.runner.killAll()
      return
    }
    this.screen.say('Canceling the build. Once more kills what still runs.')
    this.apply({ type: 'cancel_build', reason: 'Interrupted' })
    this.proceed()
  }

  report(): RunReport {
    return reportOn(this.build.store, this.first.id)
  }

  /** Names of given values that no step has used. */
  unusedFields(): string[] {
    const works = [...this.build.store.work.values()]
    const asked = new Set(
      works.flatMap((work) => (work.kind === 'manual' ? work.fields.map(({ key }) => key) : [])),
    )
    return [...this.settings.fields.keys()].filter((key) => !asked.has(key))
  }

  private beginWithUploader(): JobRow {
    const read = readPipeline('steps: [{command: pipeline upload}]', { origin: 'upload', maxBytes: 1024 })
    if (!read.ok) throw new Error('The first step of a local build cannot be read')
    const begun = this.build.begin(read.document, this.variables.forNothing(), now())
    const [first] = this.build.store.newestJobs()
    if (!begun.ok || first === undefined) throw new Error('A local build cannot begin')
    for (const type of ['assign', 'accept', 'start'] as const) {
      this.build.apply({ type, jobId: first.id, at: now() })
    }
    return first
  }

  private async addSteps(jobId: string, { file, replace, lookup }: Upload): Promise<Uploaded> {
    const { checkout, env, outerEnv } = this.settings
    const base = env['BUILDKITE_GIT_DIFF_BASE'] ?? outerEnv['BUILDKITE_GIT_DIFF_BASE']
    const read = await readUpload(file.text, {
      lookup,
      findChangedPaths: () => findChangedPaths(checkout, base),
    })
    if (!read.ok) return read
    if (read.warnings.length > 0) this.screen.say(formatProblems(file, read.warnings))
    for (const [index, document] of read.documents.entries()) {
      const outcome = this.addDocument(jobId, document, replace && index === 0)
      if (!outcome.ok) {
        return { ok: false, problems: [{ message: outcome.message, line: 0, column: 0, step: null }] }
      }
    }
    return { ok: true, steps: countSteps(read.documents.flatMap((document) => document.steps)) }
  }

  private addDocument(jobId: string, document: PipelineDocument, replace: boolean): Outcome {
    const facts = this.variables.forConditions(this.first, document)
    const outcome = this.apply({ type: 'upload', jobId, document, facts, replace })
    if (outcome.ok) this.variables.add(document)
    return outcome
  }

  private apply(event: WithoutTime<BuildEvent>): Outcome {
    const outcome = this.build.apply({ ...event, at: now() })
    if (outcome.ok) for (const effect of outcome.effects) this.carryOut(effect)
    return outcome
  }

  private must(event: WithoutTime<BuildEvent>): void {
    const outcome = this.apply(event)
    if (!outcome.ok) throw new Error(`The build refused to ${event.type}: ${outcome.message}`)
  }

  /** Effects that are not visible in the rows. `proceed` finds the others there. */
  private carryOut(effect: Effect): void {
    switch (effect.kind) {
      case 'job_state_changed': {
        const isShown = effect.jobId !== this.first.id
        const sentence = isShown ? describeChange(this.build.store, effect.jobId) : null
        if (sentence !== null) this.screen.say(sentence)
        break
      }
      case 'cancel_on_agent':
        this.runner.stop(effect.jobId)
        break
      case 'concurrency_changed':
        this.changedGroups.add(effect.group)
        break
      case 'set_meta_data':
        for (const [name, value] of Object.entries(effect.values)) this.metaData.set(name, value)
        break
      case 'build_state_changed':
      case 'job_unblockable_changed':
      case 'job_runnable':
      case 'create_child_build':
      case 'cancel_child_build':
      case 'notify':
        break
    }
  }

  private proceed(): void {
    if (this.isSettling) return
    this.isSettling = true
    while (this.doNext()) continue
    this.isSettling = false
    const { state } = this.build.store.build
    if (isFinalBuild(state)) this.finish()
    else if (state === 'blocked' && !this.isAsking) this.ask().catch(this.fail)
  }

  /** False if nothing can be done until a process ends or a person answers. */
  private doNext(): boolean {
    for (const group of this.changedGroups) decideGroupSlots([this.build], group, now())
    this.changedGroups.clear()
    const jobs = this.build.store.newestJobs()
    const trigger = jobs.find((job) => job.kind === 'trigger' && job.state === 'running')
    if (trigger !== undefined) return this.decideTrigger(trigger)
    const manual =
      this.settings.unblock && jobs.find((job) => job.unblockable && !this.refusedManual.has(job.id))
    if (manual) return this.unblock(manual, this.givenAnswers(manual))
    const script = this.busy < this.settings.jobs ? findNextScript(this.build.store) : undefined
    return script === undefined ? false : this.start(script)
  }

  private decideTrigger({ id: jobId }: JobRow): true {
    if (this.settings.skipTriggers) {
      this.must({ type: 'child_changed', jobId, state: 'passed', blockedState: null, isSuperseded: false })
    } else {
      const message = 'a local run triggers no other pipeline; --skip-triggers passes over such steps'
      this.must({ type: 'child_refused', jobId, message })
    }
    return true
  }

  private unblock(job: JobRow, answers: Answers): true {
    const by = this.variables.person?.name ?? null
    const outcome = this.apply({ type: 'unblock', jobId: job.id, answers, by })
    if (outcome.ok) this.variables.noteUnblock()
    else {
      this.refusedManual.add(job.id)
      this.screen.say(`${nameOfJob(this.build.store, job)}: ${outcome.message}.`)
    }
    return true
  }

  private start(job: JobRow): true {
    this.busy += 1
    for (const type of ['assign', 'accept', 'start'] as const) this.must({ type, jobId: job.id })
    this.follow(job).catch(this.fail)
    return true
  }

  private async follow(job: JobRow): Promise<void> {
    const { store } = this.build
    const work = getScript(store, job)
    const { timeoutMinutes } = work
    const timeOut = (): void => void this.apply({ type: 'time_out', jobId: job.id })
    const stopTimer = timeoutMinutes === null ? null : this.settings.afterMinutes(timeoutMinutes, timeOut)
    const name = nameOfJob(store, job)
    const result = await this.runner.run({ id: job.id, name, work, env: this.variables.forJob(job) })
    stopTimer?.()
    this.busy -= 1
    this.must({ type: 'finish', jobId: job.id, ...result })
    this.proceed()
  }

  /** Asks the person at the terminal about a block step. Without a terminal the build ends as blocked. */
  private async ask(): Promise<void> {
    const job = this.build.store.newestJobs().find((job) => job.unblockable)
    if (job === undefined) throw new Error('A blocked build has no step that blocks it')
    this.screen.say(`The build is blocked at ${nameOfJob(this.build.store, job)}.`)
    if (!this.terminal.isInteractive) {
      this.finish()
      return
    }
    this.isAsking = true
    const work = getManual(this.build.store, job)
    const answers = await askPerson(this.terminal, work, this.givenAnswers(job))
    this.isAsking = false
    if (answers === null) this.finish()
    else {
      this.unblock(job, answers)
      this.proceed()
    }
  }

  private givenAnswers(job: JobRow): Answers {
    return answersAmong(getManual(this.build.store, job).fields, this.settings.fields)
  }
}

function now(): string {
  return new Date().toISOString()
}
