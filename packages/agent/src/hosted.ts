// The program in the container of a hosted agent: one agent, for one job. With `mirror` it updates a git mirror.

import type { AgentLog } from './agent-log.ts'
import { updateMirror } from './job/mirror.ts'
import { startAgents } from './pool.ts'
import { limitProcesses } from './process-limit.ts'

const { env } = process
const own = (name: string) => env[`MILLRACE_RUNNER_${name}`] ?? ''

const say = (line: string) => void process.stderr.write(`${line}\n`)
const write = (fields: object, message: string) => say(`${message} ${JSON.stringify(fields)}`)
const log: AgentLog = { info: write, warn: write, error: write }

/** Used where the container engine cannot limit processes. */
const processLimit = own('PROCESSES') === '' ? null : limitProcesses(Number(own('PROCESSES')))
processLimit?.exceeded.addEventListener('abort', () => say(processLimit.reason))

/** A warm container ends when its server has been unreachable for this long. */
const silenceSeconds = 300

async function runAgent(): Promise<number> {
  const pool = startAgents({
    endpoint: own('ENDPOINT'),
    token: own('TOKEN'),
    name: own('NAME'),
    tags: own('TAGS').split(','),
    buildPath: '/var/lib/millrace/builds',
    disconnectAfterJob: true,
    disconnectAfterSilenceSeconds: silenceSeconds,
    hasJobImage: true,
    environment: Object.fromEntries(
      Object.entries(env).filter(([name]) => !name.startsWith('MILLRACE_RUNNER_')),
    ),
    log,
    ...(own('NODE') === '' ? {} : { nodePath: own('NODE') }),
    ...(own('CACHE') === '' ? {} : { cachePath: own('CACHE') }),
    ...(own('MIRRORS') === '' ? {} : { mirrorsPath: own('MIRRORS') }),
    ...(processLimit === null ? {} : { processLimit }),
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void pool.stop('force'))
  return (await pool.ended).exitStatus
}

async function runMirror(): Promise<number> {
  await updateMirror(own('MIRRORS'), own('REPOSITORY'))
  return 0
}

try {
  process.exitCode = await (process.argv[2] === 'mirror' ? runMirror() : runAgent())
} catch (error) {
  say(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}
