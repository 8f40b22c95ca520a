// An agent that works for a counterpart, with its folders in a place that is removed afterwards.

import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { systemClock } from '../src/clock.ts'
import type { Clock } from '../src/clock.ts'
import { startAgents } from '../src/pool.ts'
import type { AgentOptions, AgentPool } from '../src/pool.ts'
import { Counterpart } from './counterpart.ts'

export interface Setup {
  server: Counterpart
  folder: string
  hooks: string
  pool: AgentPool
}

/** Time passes fifty times as fast where the agent waits. */
export const hastyClock: Clock = {
  ...systemClock,
  sleep: (milliseconds, signal) => systemClock.sleep(milliseconds / 50, signal),
}

/** Far more than a busy machine needs to end a process, with time passing as fast as that. */
const cancelGraceSeconds = 5000

export async function aFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mr-test-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

export async function aCounterpart(): Promise<Counterpart> {
  const server = await Counterpart.start()
  onTestFinished(() => server.close())
  return server
}

export async function anAgent(options: Partial<AgentOptions> = {}): Promise<Setup> {
  const server = await aCounterpart()
  return await anAgentFor(server, options)
}

export async function anAgentFor(server: Counterpart, options: Partial<AgentOptions> = {}): Promise<Setup> {
  const folder = await aFolder()
  const hooks = join(folder, 'hooks')
  await mkdir(hooks)
  const pool = startAgents({
    endpoint: server.endpoint,
    token: 'registration-token',
    buildPath: join(folder, 'builds'),
    hooksPath: hooks,
    pluginsPath: join(folder, 'plugins'),
    socketsPath: join(folder, 'sockets'),
    clock: hastyClock,
    pingMode: 'poll-only',
    cancelGraceSeconds,
    ...options,
  })
  onTestFinished(async () => void (await pool.stop('force')))
  return { server, folder, hooks, pool }
}
