// Reads archived builds back.
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Context } from '../../../context.ts'
import type { ArchivedBuildRow } from './queries.ts'

const inflate = promisify(gunzip)

/** The document as JSON text; see archive.ts. */
export async function readDocument(
  ctx: Pick<Context, 'blobs'>,
  { blob_key: key, archived_at, logs }: ArchivedBuildRow,
): Promise<string> {
  const stream = await ctx.blobs.get(key)
  if (stream === null) throw new Error(`The archive's object ${key} is not in the store.`)
  const pieces: Buffer[] = []
  for await (const piece of stream as AsyncIterable<Buffer>) pieces.push(piece)
  const text = (await inflate(Buffer.concat(pieces))).toString()
  return `{"archived_at":${JSON.stringify(archived_at)},"logs_count":${logs},${text.slice(1)}`
}

interface ShownJobs {
  includeRetried: boolean
  /** As the API spells them; null: all. */
  states: readonly string[] | null
}

interface ArchivedJob {
  state: string
  retried_in_job_id?: string | null
}

/** The build as `GET …/builds/:build` shows it, without its pipeline. `jobs` null: without them. */
export async function readBuild(
  ctx: Pick<Context, 'blobs'>,
  row: ArchivedBuildRow,
  shown: ShownJobs & { withJobs: boolean },
): Promise<Record<string, unknown>> {
  const document = JSON.parse(await readDocument(ctx, row)) as {
    build: Record<string, unknown> & { jobs: ArchivedJob[] }
  }
  const { jobs: allJobs, ...build } = document.build
  const newest = allJobs.filter((job) => shown.includeRetried || (job.retried_in_job_id ?? null) === null)
  const states: Record<string, number> = {}
  for (const { state } of newest) states[state] = (states[state] ?? 0) + 1
  const jobs = newest.filter(({ state }) => shown.states === null || shown.states.includes(state))
  return {
    ...build,
    archived_at: row.archived_at,
    ...(shown.withJobs ? { jobs } : {}),
    job_state_counts: { total: newest.length, states },
  }
}
