// Joins builds with their pipelines. A page is sent in parts with a bounded number of jobs each, so that a hundred builds
// of thousands of jobs are never in memory at once.
import { Readable } from 'node:stream'
import type { Caller, Organization } from '../../../auth/caller.ts'
import type { Context } from '../../../context.ts'
import { notFound } from '../../../lib/errors.ts'
import { presentPipeline } from '../../pipelines/pipelines/present.ts'
import * as pipelines from '../../pipelines/pipelines/queries.ts'
import { writeBuilds, writeJobs, type ShownJobs, type WrittenBuild } from './build-json.ts'
import type { ListedBuild } from './listed-builds.ts'

export type ShowingOrganization = Pick<Organization, 'id' | 'slug' | 'role' | 'teams_enabled'>

interface Parts {
  /** null: without its jobs. */
  jobs: ShownJobs | null
  pipeline: boolean
}

export const everything: Parts = {
  jobs: { includeRetried: false, includePaused: true, states: null },
  pipeline: true,
}

const mostJobsInPart = 1000

/** One JSON array: at once when it is small, else in pieces. */
export async function presentPage(
  ctx: Context,
  orgs: readonly ShowingOrganization[],
  caller: Caller,
  listed: readonly ListedBuild[],
  parts: Parts,
): Promise<{ json: string | Buffer } | { stream: Readable }> {
  if (listed.length === 0) return { json: '[]' }
  const split = parts.jobs === null ? [listed] : splitByJobs(listed)
  const readPipelines = () => (parts.pipeline ? writePipelines(ctx, orgs, caller, listed) : null)
  if (parts.jobs === null || (split.length === 1 && !isLarge(listed))) {
    const [pipelineTexts, written] = await Promise.all([readPipelines(), readPart(ctx, parts.jobs, listed)])
    return { json: toBytes(asArray(piecesOf(written, pipelineTexts))) }
  }
  const writing = { ctx, jobs: parts.jobs, pipelineTexts: await readPipelines() }
  return { stream: Readable.from(inPieces(writing, split)) }
}

/** One JSON object; `more` are further fields of it. */
export async function presentBuild(
  ctx: Context,
  org: ShowingOrganization,
  caller: Caller,
  build: { id: string; pipeline_id: string },
  parts: Parts,
  more: Record<string, unknown> = {},
): Promise<string> {
  const toWrite = { id: build.id, organization_id: org.id, pipeline_id: build.pipeline_id }
  const [pipelineTexts, written] = await Promise.all([
    parts.pipeline ? writePipelines(ctx, [org], caller, [toWrite]) : null,
    writeBuilds(ctx.db, ctx.config.url, [org.id], [build.id], parts.jobs),
  ])
  const [pieces] = piecesOf(written, pipelineTexts)
  if (pieces === undefined) throw notFound('No build found')
  const added = Object.entries(more).map(([name, value]) => `,"${name}":${JSON.stringify(value)}`)
  return [...pieces.slice(0, -1), ...added, '}'].join('')
}

export function splitByJobs<T extends { jobs: number }>(listed: readonly T[]): T[][] {
  const parts: T[][] = []
  let jobs = Infinity
  for (const build of listed) {
    if (jobs + build.jobs > mostJobsInPart) {
      parts.push([])
      jobs = 0
    }
    parts.at(-1)?.push(build)
    jobs += build.jobs
  }
  return parts
}

/** Too large for one part with others; then it is alone in its part. */
const isLarge = ([first]: ReadonlyArray<{ jobs: number }>) => (first?.jobs ?? 0) > mostJobsInPart

interface Writing {
  ctx: Context
  jobs: ShownJobs | null
  /** null: without pipelines. */
  pipelineTexts: ReadonlyMap<string, string> | null
}

type BuildToWrite = Pick<ListedBuild, 'id' | 'organization_id' | 'pipeline_id'>

async function* inPieces(
  writing: Writing & { jobs: ShownJobs },
  parts: ReadonlyArray<readonly ListedBuild[]>,
): AsyncGenerator<string> {
  yield '['
  let between = ''
  for (const part of parts) {
    const texts = isLarge(part)
      ? part.map((build) => writeLarge(writing, build))
      : (await writePart(writing, part)).map((pieces) => [pieces.join('')])
    for (const text of texts) {
      let before = between
      for await (const piece of text) {
        yield before + piece
        before = ''
        between = ','
      }
    }
  }
  yield ']'
}

const writePart = async ({ ctx, jobs, pipelineTexts }: Writing, listed: readonly BuildToWrite[]) =>
  piecesOf(await readPart(ctx, jobs, listed), pipelineTexts)

/** Without deleted builds. */
function readPart(
  ctx: Context,
  shownJobs: ShownJobs | null,
  listed: readonly BuildToWrite[],
): Promise<WrittenBuild[]> {
  const orgIds = [...new Set(listed.map((build) => build.organization_id))]
  const ids = listed.map(({ id }) => id)
  return writeBuilds(ctx.db, ctx.config.url, orgIds, ids, shownJobs)
}

/** The pieces of each build's text. Without builds whose pipeline was deleted. */
const piecesOf = (written: readonly WrittenBuild[], pipelineTexts: Writing['pipelineTexts']): string[][] =>
  written.flatMap(({ pipeline_id, build, jobs }) => {
    const end = endOf(pipelineTexts, pipeline_id)
    if (end === null) return []
    return [[build.slice(0, -1), ...(jobs === null ? [] : [',"jobs":[', jobs, ']']), end, '}']]
  })

/** The same for one build, whose jobs come in slices. */
async function* writeLarge(
  { ctx, jobs, pipelineTexts }: Writing & { jobs: ShownJobs },
  listed: BuildToWrite,
): AsyncGenerator<string> {
  const [pieces] = await writePart({ ctx, jobs: null, pipelineTexts }, [listed])
  if (pieces === undefined) return
  const [build = '', end = ''] = pieces
  yield `${build},"jobs":[`
  let before = ''
  for await (const slice of writeJobs(ctx.db, ctx.config.url, listed, jobs, mostJobsInPart)) {
    yield before + slice
    before = ','
  }
  yield `]${end}}`
}

/** null: the pipeline was deleted meanwhile, with its builds. */
function endOf(pipelineTexts: ReadonlyMap<string, string> | null, pipelineId: string): string | null {
  if (pipelineTexts === null) return ''
  const pipeline = pipelineTexts.get(pipelineId)
  return pipeline === undefined ? null : `,"pipeline":${pipeline}`
}

const asArray = (texts: readonly string[][]): string[] => [
  '[',
  ...texts.flatMap((pieces, index) => (index === 0 ? pieces : [',', ...pieces])),
  ']',
]

/** Copied once. A page in one string would be copied when joined, measured and sent. */
function toBytes(pieces: readonly string[]): Buffer {
  const bytes = Buffer.allocUnsafe(pieces.reduce((size, piece) => size + Buffer.byteLength(piece), 0))
  let at = 0
  for (const piece of pieces) at += bytes.write(piece, at)
  return bytes
}

async function writePipelines(
  ctx: Context,
  orgs: readonly ShowingOrganization[],
  caller: Caller,
  listed: readonly BuildToWrite[],
): Promise<Map<string, string>> {
  const texts = new Map<string, string>()
  for (const org of orgs) {
    const own = listed.filter((build) => build.organization_id === org.id)
    if (own.length === 0) continue
    const ids = [...new Set(own.map((build) => build.pipeline_id))]
    for (const row of await pipelines.listById(ctx.db, org, caller, ids)) {
      texts.set(
        row.id,
        JSON.stringify(await presentPipeline(ctx.config.url, org.slug, row, { caller, keys: ctx.keys })),
      )
    }
  }
  return texts
}
