// The agents under test. Both take the same flags.
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export interface AgentProgram {
  title: string
  file: string
  /** The arguments before the flags. */
  start: readonly string[]
  /** Whether an agent that stops gracefully tells the server before its job ends. */
  reportsStop: boolean
}

export const ownRunner: AgentProgram = {
  title: 'millrace agent start',
  file: process.execPath,
  start: [
    fileURLToPath(new URL('../../packages/cli/bin/millrace.js', import.meta.url)),
    'agent',
    'start',
    '--json',
  ],
  reportsStop: true,
}

export const publicAgentLacks = process.env['BUILDKITE_AGENT_BIN']
  ? null
  : 'BUILDKITE_AGENT_BIN names no public agent'

/** The public agent, if BUILDKITE_AGENT_BIN names its program. */
export function publicAgent(): AgentProgram | null {
  const file = process.env['BUILDKITE_AGENT_BIN'] ?? ''
  if (file === '') return null
  const version = execFileSync(file, ['--version'], { encoding: 'utf8', env: {} }).trim()
  const [, major, minor] = /version (\d+)\.(\d+)/.exec(version) ?? []
  const reportsStop = Number(major) === 3 && Number(minor) >= 138
  return { title: version, file, start: ['start', '--no-color'], reportsStop }
}
