// A command inside a job: what it is called, which flags it knows and where their defaults come from.

import type { Clock } from '../clock.ts'
import type { Api } from '../http/call.ts'

/** The input and output of a process, injected for tests. */
export interface Io {
  env: Readonly<Record<string, string | undefined>>
  cwd: string
  /** All of standard input. */
  readInput: () => Promise<string>
  /** Whether standard input is a pipe or a file. */
  hasInput: () => boolean
  print: (text: string) => void
  /** For people; standard error. */
  printError: (line: string) => void
  clock: Clock
}

export interface Flag {
  kind: 'text' | 'switch' | 'list'
  summary: string
  /** The environment variable that gives it when the command line does not. */
  variable?: string
  fallback?: string
}

export interface Flags {
  /** Empty if not given. */
  text(name: string): string
  /** Throws an error that names the flag if it is not given. */
  need(name: string): string
  isOn(name: string): boolean
  list(name: string): string[]
  isGiven(name: string): boolean
}

export interface VerbCall {
  args: string[]
  /** Those of them that stand after `--`. */
  rest: string[]
  flags: Flags
  io: Io
  /** With the job's token. Throws when the job's address or token is missing. */
  api: () => Api
}

export interface Verb {
  /** Such as `artifact upload`. */
  name: string
  usage: string
  summary: string
  flags: Readonly<Record<string, Flag>>
  run: (call: VerbCall) => Promise<void>
}

/** Ends the command with a status, and a message for people. */
export class Exit extends Error {
  readonly status: number
  constructor(status: number, message = '') {
    super(message)
    this.name = 'Exit'
    this.status = status
  }
}

export const JOB: Flag = { kind: 'text', summary: 'The job', variable: 'BUILDKITE_JOB_ID' }
export const BUILD: Flag = { kind: 'text', summary: 'The build', variable: 'BUILDKITE_BUILD_ID' }
export const STEP: Flag = {
  kind: 'text',
  summary: 'The step, by its id or key',
  variable: 'BUILDKITE_STEP_ID',
}

export const JWKS_FILE: Flag = {
  kind: 'text',
  summary: 'A file with the key to sign steps with',
  variable: 'BUILDKITE_AGENT_JWKS_FILE',
}
export const JWKS_KEY_ID: Flag = {
  kind: 'text',
  summary: 'The id of that key, where the file holds several',
  variable: 'BUILDKITE_AGENT_JWKS_KEY_ID',
}

export function argument(call: VerbCall, index: number, name: string): string {
  const value = call.args[index]
  if (value === undefined || value === '') throw new Exit(1, `The ${name} is missing.`)
  return value
}
