// A job that runs on an agent, for tests of logs and artifacts.
import { gzipSync } from 'node:zlib'
import type { Context } from '../src/context.ts'
import { logCompactor } from '../src/resources/builds/log/ingest/compact.ts'
import type { TestApp } from './app.ts'
import { anAgent, anAgentWorld, type AgentWorld, type TestRun } from './agent-client.ts'
import { aPipeline } from './builders.ts'
import { aBuild, type TestBuild } from './runs.ts'

export interface RunningScene extends AgentWorld {
  run: TestRun
  build: TestBuild
  pipeline: { id: string; slug: string; path: string }
  /** `…/builds/{number}` */
  buildPath: string
  /** Both forms of the job's address. */
  short: string
  long: string
}

export async function aRunningJob(
  app: TestApp,
  configuration = '{steps: [{label: Tests, key: tests, command: make}, {wait: }]}',
  world?: AgentWorld,
): Promise<RunningScene> {
  const at = world ?? (await anAgentWorld(app))
  const pipeline = await aPipeline(app, at.org, configuration, { cluster_id: at.cluster.id })
  const build = await aBuild(app, at.org, pipeline)
  const run = await (await anAgent(app, at.token)).begin()
  const buildPath = `${pipeline.path}/builds/${build.number}`
  const [short, long] = [`${at.org.path}/jobs/${run.id}`, `${buildPath}/jobs/${run.id}`]
  return { ...at, run, build, pipeline, buildPath, short, long }
}

/** A new job per call, all in one organization and cluster. For tests that only touch their own job. */
export function jobsOfOneWorld(app: TestApp): () => Promise<RunningScene> {
  let world: Promise<AgentWorld> | undefined
  return async () => aRunningJob(app, undefined, await (world ??= anAgentWorld(app)))
}

interface SentChunk {
  sequence: number
  offset: number
  text: string | Buffer
}

/** Agents send chunks gzipped. */
export async function sendChunk(
  app: TestApp,
  { id, token }: { id: string; token: string },
  { sequence, offset, text }: SentChunk,
): Promise<{ status: number; text: string }> {
  const bytes = Buffer.from(text)
  const query = `sequence=${sequence}&offset=${offset}&size=${bytes.length}`
  const response = await fetch(`${app.address}/v3/jobs/${id}/chunks?${query}`, {
    method: 'POST',
    headers: {
      Authorization: `Token ${token}`,
      'Content-Type': 'text/plain',
      'Content-Encoding': 'gzip',
    },
    body: gzipSync(bytes),
  })
  return { status: response.status, text: await response.text() }
}

/** Sends the whole output in one chunk. */
export async function sendLog(
  app: TestApp,
  run: { id: string; token: string },
  text: string | Buffer,
): Promise<void> {
  const answer = await sendChunk(app, run, { sequence: 1, offset: 0, text })
  if (answer.status !== 200) throw new Error(`chunks: ${answer.text}`)
}

/** Finishes the job and backdates its end past the time in which chunks may still arrive. */
export async function endLongAgo(app: TestApp, run: TestRun, exitStatus = 0): Promise<void> {
  await run.finish(exitStatus)
  await app.db
    .updateTable('jobs')
    .set({ finished_at: new Date(Date.now() - 10 * 60_000).toISOString() })
    .where('id', '=', run.id)
    .execute()
}

/** What a worker does after its start. */
export const compactLogs = (ctx: Context): Promise<void> => logCompactor()(ctx, new AbortController().signal)
