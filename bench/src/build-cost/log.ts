// A job that prints a long log: how long it takes, and the CPU that its way from the agent to the database costs.
import { createWriteStream, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline as pump } from 'node:stream/promises'
import { allFinished, createBuild, createPipeline, readCpu } from './builds.ts'
import type { Agents, World } from './world.ts'

interface LogCost {
  /** From the request for the build until its end. */
  seconds: number
  /** Seconds of CPU. */
  server: number
  database: number
  agent: number
  programs: number
}

export const logMegabytes = 100

export async function costOfLog(world: World, agents: Agents): Promise<LogCost> {
  const file = join(world.shared, 'output')
  await writeLines(file)
  const pipeline = await createPipeline(
    world.api,
    'log',
    `{env: {BUILDKITE_SKIP_CHECKOUT: "true"}, steps: [{command: "cat ${file}"}]}`,
  )
  const before = readCpu(world, agents)
  const startedAt = performance.now()
  const { jobs } = await createBuild(world.api, pipeline)
  await allFinished(world)
  const seconds = (performance.now() - startedAt) / 1000
  const after = readCpu(world, agents)
  rmSync(file)
  await mustHaveAll(world, jobs[0]?.id)
  const spent = (name: keyof typeof before) => (after[name] - before[name]) / 1000
  return {
    seconds,
    server: spent('server'),
    database: spent('database'),
    agent: spent('agent'),
    programs: spent('programs'),
  }
}

export const writeLines = (file: string): Promise<void> =>
  pump(Readable.from(lines()), createWriteStream(file))

/** Lines of different lengths that compress about as well as those of a compiler. */
function* lines(): Generator<string> {
  const most = logMegabytes * 1024 * 1024
  for (let written = 0, line = 0; written < most;) {
    const text = Array.from(
      { length: 1000 },
      () => `${line++} ${Math.random().toString(36)} compiled src/part-${line % 89}.ts in ${line % 97} ms\n`,
    ).join('')
    written += text.length
    yield text
  }
}

async function mustHaveAll({ sql }: World, job: string | undefined): Promise<void> {
  const { rows } = await sql.query<{ bytes: number; last: number }>(
    `select sum(size)::float8 as bytes, max(byte_offset + size)::float8 as last from job_log_chunks where job_id = $1`,
    [job],
  )
  const { bytes = 0, last = 0 } = rows[0] ?? {}
  if (bytes !== last || bytes < logMegabytes * 1024 * 1024) throw new Error(`The log has ${bytes} bytes.`)
}
