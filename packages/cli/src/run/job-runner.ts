// Runs jobs as processes on this machine, and reports features that a local run does not have.
import type { Env } from '@millrace/engine/environment.ts'
import type { ScriptWork } from '@millrace/engine/work.ts'
import { join } from 'node:path'
import { ArtifactStore } from './agent-commands/artifact-store.ts'
import { errorCode } from '../error-code.ts'
import type { JobReaper } from '@millrace/agent/job-reaper.ts'
import { JobProcess } from './job-process.ts'
import type { JobLog, Screen } from './screen.ts'

interface RunnerSettings {
  /** The working directory of jobs. */
  root: string
  /** The run's private folder, with the buildkite-agent program. */
  privateFolder: string
  reaper: JobReaper
  screen: Screen
  /** The environment of this process, which jobs inherit and secrets are read from. */
  outerEnv: Env
  ignorePlugins: boolean
  graceMs: number
}

interface JobOrder {
  id: string
  name: string
  work: ScriptWork
  /** The build's variables, added to the outer environment. */
  env: Env
}

interface JobResult {
  exitStatus: number
  signal: string | null
  signalReason: string | null
}

const NOT_STARTED: JobResult = { exitStatus: -1, signal: null, signalReason: 'process_run_error' }
const NOTHING_TO_DO: JobResult = { exitStatus: 0, signal: null, signalReason: null }
const USUAL_PATH = '/usr/local/bin:/usr/bin:/bin'

const LEFT_OUT: ReadonlyArray<readonly [isAsked: (work: ScriptWork) => boolean, sentence: string]> = [
  [
    ({ artifactPaths }) => artifactPaths !== null,
    'Artifacts are kept for the other jobs, until the run is over.',
  ],
  [({ agents }) => agents.length > 0, 'Jobs run on this machine, whatever agents their steps ask for.'],
  [({ cache }) => cache !== null, 'A local run has no cache volumes.'],
  [({ image }) => image !== null, 'Jobs run without containers, whatever image their steps ask for.'],
  [({ plugins }) => plugins.length > 0, 'Plugins are not run.'],
  [({ testResults }) => testResults !== undefined, 'Test results stay in their files.'],
]

export class JobRunner {
  readonly artifacts: ArtifactStore
  private readonly settings: RunnerSettings
  private readonly running = new Map<string, { process: JobProcess; log: JobLog }>()
  private readonly stopped = new Set<string>()
  private readonly said = new Set<string>()
  private pipes = 0

  constructor(settings: RunnerSettings) {
    this.settings = settings
    this.artifacts = new ArtifactStore(join(settings.privateFolder, 'artifacts'))
  }

  async run(order: JobOrder): Promise<JobResult> {
    const { screen, ignorePlugins } = this.settings
    const secrets = this.findSecrets(order.work)
    if (order.work.plugins.length > 0 && !ignorePlugins) {
      screen.say(`${order.name}: plugins cannot be run here; --ignore-plugins runs the command without them.`)
      return NOT_STARTED
    }
    if (secrets.missing.length > 0) {
      screen.say(
        `${order.name}: secrets are taken from the environment, and it lacks ${secrets.missing.join(', ')}.`,
      )
      return NOT_STARTED
    }
    this.sayWhatIsLeftOut(order.work)
    const { command } = order.work
    if (command === null || command.trim() === '') return NOTHING_TO_DO
    try {
      return await this.follow(order, command, { ...this.settings.outerEnv, ...order.env, ...secrets.found })
    } catch (error) {
      screen.say(`${order.name}: the command cannot be started (${errorCode(error)}).`)
      return NOT_STARTED
    }
  }

  /** Terminates the job's processes, and kills them after the grace period. */
  stop(jobId: string): void {
    this.stopped.add(jobId)
    this.running.get(jobId)?.process.stop()
  }

  killAll(): void {
    for (const { process } of this.running.values()) process.kill()
  }

  private async follow(order: JobOrder, command: string, env: Env): Promise<JobResult> {
    const { root, privateFolder, reaper, screen, graceMs } = this.settings
    this.pipes += 1
    const log = screen.openLog(order.name)
    const process = new JobProcess({
      command,
      cwd: root,
      env: {
        ...env,
        PATH: `${privateFolder}:${env['PATH'] ?? USUAL_PATH}`,
        BUILDKITE_BUILD_CHECKOUT_PATH: root,
      },
      graceMs,
      pipe: join(privateFolder, `output-${this.pipes}`),
      reaper,
      onOutput: (chunk) => log.write(chunk),
    })
    this.running.set(order.id, { process, log })
    if (this.running.size > 1) for (const other of this.running.values()) other.log.share()
    reaper.watch('job', order.id)
    try {
      const ended = await process.ended
      const areKept = await this.keepArtifacts(order)
      const end = areKept || ended.exitStatus !== 0 ? ended : { ...ended, exitStatus: 1 }
      const isCut = this.stopped.has(order.id) && end.exitStatus !== 0
      return { ...end, signalReason: isCut ? 'cancel' : null }
    } finally {
      this.running.delete(order.id)
      // Processes that a canceled job left in another session are killed at the end of the run.
      if (!this.stopped.has(order.id)) reaper.release('job', order.id)
      log.end()
    }
  }

  /** Runs even after a failed command. False if the artifacts cannot be stored. */
  private async keepArtifacts({ id, name, work }: JobOrder): Promise<boolean> {
    const { root, screen } = this.settings
    if (work.artifactPaths === null || work.artifactPaths.trim() === '') return true
    try {
      const paths = await this.artifacts.upload(id, work.artifactPaths, root)
      if (paths.length === 0) screen.say(`${name}: no files match ${work.artifactPaths}.`)
      return true
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      screen.say(`${name}: its artifacts cannot be kept: ${why}.`)
      return false
    }
  }

  private findSecrets({ secrets }: ScriptWork): { found: Record<string, string>; missing: string[] } {
    const found: Record<string, string> = {}
    const missing: string[] = []
    for (const [variable, key] of Object.entries(secrets)) {
      const value = this.settings.outerEnv[key]
      if (value === undefined) missing.push(key)
      else found[variable] = value
    }
    return { found, missing }
  }

  private sayWhatIsLeftOut(work: ScriptWork): void {
    for (const [isAsked, sentence] of LEFT_OUT) {
      if (this.said.has(sentence) || !isAsked(work)) continue
      this.said.add(sentence)
      this.settings.screen.say(sentence)
    }
  }
}
