// Runs pipelines with real processes, in folders that are gone after the test.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Checkout } from '../src/run/checkout.ts'
import type { RunReport } from '../src/run/report.ts'
import { runPipeline, type RunResult, type RunSettings } from '../src/run/run-pipeline.ts'
import type { Terminal } from '../src/run/terminal.ts'

export function aFolder(files: Readonly<Record<string, string>> = {}): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'millrace-cli-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) putFile(folder, name, text)
  return folder
}

export function putFile(folder: string, name: string, text: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true })
  writeFileSync(join(folder, name), text)
}

/** With one commit on the branch `main` that holds these files. */
export function aRepository(files: Readonly<Record<string, string>>): string {
  const folder = aFolder(files)
  git(folder, 'init', '--quiet', '--initial-branch=main')
  git(folder, 'config', 'user.name', 'Ada')
  git(folder, 'config', 'user.email', 'ada@example.com')
  commitAll(folder, 'First')
  return folder
}

export function commitAll(folder: string, message: string): void {
  git(folder, 'add', '--all')
  git(folder, 'commit', '--quiet', '--message', message)
}

export function git(folder: string, ...args: string[]): string {
  return execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8' }).trim()
}

/** A person at a terminal who answers in the given order, then goes away. */
export class TestTerminal implements Terminal {
  output = ''
  readonly questions: string[] = []
  readonly hasColor: boolean
  readonly isInteractive: boolean
  private readonly answers: string[]
  private readonly listeners = new Set<() => void>()

  constructor({ answers, hasColor = false }: { answers?: string[]; hasColor?: boolean } = {}) {
    this.isInteractive = answers !== undefined
    this.answers = [...(answers ?? [])]
    this.hasColor = hasColor
  }

  get lines(): string[] {
    return this.output.split('\n')
  }

  write(text: string): void {
    this.output += text
  }

  ask(question: string): Promise<string | null> {
    this.questions.push(question)
    return Promise.resolve(this.answers.shift() ?? null)
  }

  onInterrupt(listener: () => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  interrupt(): void {
    for (const listener of this.listeners) listener()
  }
}

interface RunGiven extends Partial<Omit<RunSettings, 'checkout'>> {
  folder?: string
  checkout?: Checkout
  terminal?: TestTerminal
}

interface StartedRun {
  folder: string
  terminal: TestTerminal
  result: Promise<RunResult>
}

export function startRun(text: string, given: RunGiven = {}): StartedRun {
  const { folder = aFolder(), terminal = new TestTerminal(), ...settings } = given
  const file = { name: 'pipeline.yml', text, folder }
  const result = runPipeline(file, { ...someSettings(folder), ...settings }, terminal)
  return { folder, terminal, result }
}

export interface EndedRun extends RunReport {
  folder: string
  terminal: TestTerminal
  /** By label. */
  states: Record<string, string>
}

/** The pipeline must be readable. */
export async function run(text: string, given: RunGiven = {}): Promise<EndedRun> {
  const { folder, terminal, result } = startRun(text, given)
  const ended = await result
  if (!ended.ok) throw new Error(JSON.stringify(ended.problems))
  const states = Object.fromEntries(ended.report.jobs.map(({ label, state }) => [label, state]))
  return { ...ended.report, folder, terminal, states }
}

function someSettings(root: string): RunSettings {
  return {
    checkout: {
      root,
      branch: 'main',
      commit: 'HEAD',
      message: null,
      repository: root,
      defaultBranch: null,
      user: null,
    },
    jobs: 2,
    env: {},
    outerEnv: { PATH: process.env['PATH'] ?? '' },
    fields: new Map(),
    unblock: false,
    ignorePlugins: false,
    skipTriggers: false,
    afterMinutes: () => () => {},
    graceMs: 60_000,
  }
}

/** Looks again and again until the claim holds. */
export async function until(claim: () => boolean): Promise<void> {
  const deadline = Date.now() + 120_000
  while (!claim()) {
    if (Date.now() > deadline) throw new Error(`This never came true: ${String(claim)}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** A process that has ended but was not buried yet is not alive. */
export function isAlive(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
  return stdout.trim() !== '' && !stdout.trim().startsWith('Z')
}

export function readPid(folder: string, name: string): number {
  return Number(readFileSync(join(folder, name), 'utf8').trim())
}
