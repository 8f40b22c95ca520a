// One agent: registers, connects, sends heartbeats, runs jobs, and disconnects.

import type { RegisterResponse } from '@millrace/protocol/agents.ts'
import type { Job } from '@millrace/protocol/jobs.ts'
import * as agents from '../api/agents.ts'
import * as jobs from '../api/jobs.ts'
import type { Api } from '../http/call.ts'
import { Refused } from '../http/retry.ts'
import { keepHeaders, moveTo, openSession } from '../http/session.ts'
import type { JobReaper } from '../job-reaper.ts'
import { runHere } from '../job/run-job.ts'
import type { JobFinish, JobHost, JobRunner } from '../job/run-job.ts'
import type { Workplaces } from '../job/workplaces.ts'
import { runSeparately } from '../separate/job-runner.ts'
import type { Settings } from '../settings.ts'
import { openChannel } from './channel.ts'
import { keepBeating } from './heartbeat.ts'
import { createMailbox } from './mailbox.ts'
import { registrationOf } from './registration.ts'

interface WorkerOptions {
  settings: Settings
  binPath: string
  reaper: JobReaper
  workplaces: Workplaces
  /** From 1. */
  number: number
  /** Aborts when the agent must take no new jobs. */
  stopping: AbortSignal
  /** Aborts when the running job must stop too. */
  forced: AbortSignal
  connected: (agent: { id: string; name: string }) => void
  /** Called before each job. */
  beforeJob: () => void
}

export interface WorkerEnd {
  /** The exit status of a process with this agent. */
  exitStatus: number
  /** The exit status of the last reported job. */
  lastJob: JobFinish | null
}

/** Exit statuses of `acquireJob`: the job is taken or gone; the job cannot run yet. */
const REJECTED = 27
const LOCKED = 28

export async function runWorker(options: WorkerOptions): Promise<WorkerEnd> {
  const { settings, number, stopping } = options
  const { clock, log } = settings
  const api: Api = { session: openSession(settings.endpoint, settings.token), clock }
  const registered = await agents.register({ ...api, signal: stopping }, registrationOf(settings, number))
  moveTo(api.session, registered.endpoint)
  api.session.token = registered.access_token
  keepHeaders(api.session, registered.request_headers)
  await agents.connect({ ...api, signal: stopping })
  log.info({ agent: registered.id, name: registered.name }, 'The agent is connected.')
  options.connected({ id: registered.id, name: registered.name })
  try {
    return await new Worker(options, api, registered).run()
  } finally {
    await agents.disconnect(api).catch((error: unknown) => {
      log.warn({ agent: registered.id, error: messageOf(error) }, 'The agent could not disconnect.')
    })
    log.info({ agent: registered.id, name: registered.name }, 'The agent is disconnected.')
  }
}

class Worker {
  private readonly options: WorkerOptions
  private readonly api: Api
  private readonly registered: RegisterResponse
  private readonly mailbox = createMailbox()
  private readonly ended = new AbortController()
  private readonly abandon = new AbortController()
  private readonly runner: JobRunner
  private failure: Error | null = null
  private lastJob: JobFinish | null = null
  private isBusy = false
  private heardAt: number

  constructor(options: WorkerOptions, api: Api, registered: RegisterResponse) {
    this.options = options
    this.api = api
    this.registered = registered
    this.runner = runnerOf(options)
    this.heardAt = options.settings.clock.now()
  }

  async run(): Promise<WorkerEnd> {
    const { stopping, forced, settings } = this.options
    const wake = () => {
      this.mailbox.wake()
      if (this.isBusy) void this.reportStop()
    }
    const force = () => this.abandon.abort()
    stopping.addEventListener('abort', wake)
    forced.addEventListener('abort', force)
    if (forced.aborted) force()
    const beating = this.beat()
    try {
      const exitStatus =
        settings.acquireJob === null ? await this.serve() : await this.serveOne(settings.acquireJob)
      return { exitStatus: this.failure ? 1 : exitStatus, lastJob: this.lastJob }
    } finally {
      this.ended.abort()
      stopping.removeEventListener('abort', wake)
      forced.removeEventListener('abort', force)
      await beating
      await this.runner.close()
    }
  }

  private async serve(): Promise<number> {
    const { settings, stopping } = this.options
    const { clock, log } = settings
    const channel = openChannel({
      api: this.api,
      agentId: this.registered.id,
      pingIntervalSeconds: this.registered.ping_interval,
      mode: settings.pingMode,
      mailbox: this.mailbox,
      signal: this.ended.signal,
      notify: (message) => log.info({ agent: this.registered.id }, message),
    })
    const idleMs = (settings.disconnectAfterIdleSeconds ?? Number.POSITIVE_INFINITY) * 1000
    const silenceMs = (settings.disconnectAfterSilenceSeconds ?? Number.POSITIVE_INFINITY) * 1000
    let idleSince = clock.now()
    while (!stopping.aborted && this.failure === null) {
      const left = this.mailbox.isPaused ? LONGEST_WAIT_MS : idleSince + idleMs - clock.now()
      const silenceLeft = this.heardAt + silenceMs - clock.now()
      if (left <= 0 || silenceLeft <= 0) return 0
      const instruction = await channel.next(Math.min(left, silenceLeft, LONGEST_WAIT_MS))
      if (this.mailbox.isPaused) idleSince = clock.now()
      if (instruction?.kind === 'disconnect') return 0
      if (instruction?.kind !== 'job' || stopping.aborted) continue
      const taken = await this.takeJob(instruction.jobId)
      if (taken !== 'dropped' && settings.disconnectAfterJob) return 0
      if (taken !== 'reported') channel.reportIdle()
      idleSince = clock.now()
      channel.pollNow()
    }
    return 0
  }

  private async takeJob(jobId: string): Promise<'reported' | 'unreported' | 'dropped'> {
    const { log } = this.options.settings
    this.options.beforeJob()
    try {
      const job = await jobs.accept({ ...this.api, signal: this.abandon.signal }, jobId)
      const isReported = await this.runJob(job)
      this.mailbox.ignoreJob(jobId)
      return isReported ? 'reported' : 'unreported'
    } catch (error) {
      log.warn(
        { agent: this.registered.id, job: jobId, error: messageOf(error) },
        'The job could not be taken.',
      )
      return 'dropped'
    }
  }

  private async serveOne(jobId: string): Promise<number> {
    const { log } = this.options.settings
    this.options.beforeJob()
    try {
      const job = await jobs.acquire({ ...this.api, signal: this.options.stopping }, jobId)
      await this.runJob(job)
      return 0
    } catch (error) {
      log.error(
        { agent: this.registered.id, job: jobId, error: messageOf(error) },
        'The job could not be acquired.',
      )
      if (error instanceof Refused && error.status === 422) return REJECTED
      return error instanceof Refused && error.status === 423 ? LOCKED : 1
    }
  }

  /** False: the server did not receive the report. */
  private async runJob(job: Job): Promise<boolean> {
    const { settings, binPath, reaper, workplaces } = this.options
    const host: JobHost = {
      settings,
      session: this.api.session,
      binPath,
      reaper,
      workplaces,
      jobStatusIntervalSeconds: this.registered.job_status_interval,
      abandoned: this.abandon.signal,
    }
    settings.log.info({ agent: this.registered.id, job: job.id }, 'The job begins.')
    this.isBusy = true
    try {
      const report = await this.runner.run(host, job)
      this.lastJob = report?.finish ?? this.lastJob
      settings.log.info(
        { agent: this.registered.id, job: job.id, exit: report?.finish.exit_status },
        'The job is over.',
      )
      return report?.isHeard ?? false
    } finally {
      this.isBusy = false
    }
  }

  /** People see that the agent takes no further job while its last one may still run for long. */
  private async reportStop(): Promise<void> {
    await agents
      .stop({ ...this.api, signal: this.ended.signal }, { force: false })
      .catch((error: unknown) => {
        const about = { agent: this.registered.id, error: messageOf(error) }
        this.options.settings.log.warn(about, 'The agent could not report that it stops.')
      })
  }

  private async beat(): Promise<void> {
    const { clock } = this.options.settings
    const { heartbeat_interval: interval } = this.registered
    const failure = await keepBeating(this.api, interval, this.ended.signal, () => {
      this.heardAt = clock.now()
    })
    if (failure === null) return
    this.options.settings.log.error(
      { agent: this.registered.id, error: failure.message },
      'The server no longer knows this agent.',
    )
    this.failure = failure
    this.abandon.abort()
    this.mailbox.wake()
  }
}

function runnerOf({ settings, workplaces, number }: WorkerOptions): JobRunner {
  const separate = settings.separateJobs?.[number - 1]
  return separate === undefined ? runHere(workplaces) : runSeparately(separate)
}

/** The longest possible timer. */
const LONGEST_WAIT_MS = 60 * 60 * 1000

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
