// Puts builds and their pipelines together. A page is written in parts that each hold a bounded number of jobs, so
// that a hundred builds of thousands of jobs never lie in memory at once.
import { Readable } from 'node:stream'
import type { Caller, Organization } from '../../auth/caller.ts'
import type { Context } from '../../context.ts'
import { notFound } from '../../lib/errors.ts'
import { presentPipeline } from '../pipelines/present.ts'
import * as pipelines from '../pipelines/queries.ts'
import { writeBuilds, type ShownJobs } from './build-json.ts'
import type { Place } from './places.ts'

export type ShowingOrganization = Pick<Organization, 'id' | 'slug' | 'role' | 'teams_enabled'>

export interface Parts {
  /** null: without its jobs. */
  jobs: ShownJobs | null
  pipeline: boolean
}

export const everything: Parts = {
  jobs: { includeRetried: false, includePaused: true, states: null },
  pipeline: true,
}

const mostJobsInPart = 2000

/** One JSON array: as text when it is small, else in pieces. */
export async function presentPage(
  ctx: Context,
  orgs: readonly ShowingOrganization[],
  caller: Caller,
  places: readonly Place[],
  parts: Parts,
): Promise<{ json: string } | { stream: Readable }> {
  const [first = [], ...rest] = parts.jobs === null ? [places] : splitByJobs(places)
  const write = (some: readonly Place[]) => writePart(ctx, orgs, caller, some, parts)
  if (rest.length === 0) return { json: `[${(await write(first)).join(',')}]` }
  return { stream: Readable.from(inPieces([first, ...rest], write)) }
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
  const place = { id: build.id, organization_id: org.id, pipeline_id: build.pipeline_id }
  const [json] = await writePart(ctx, [org], caller, [place], parts)
  if (json === undefined) throw notFound('No build found')
  return withFields(
    json,
    Object.fromEntries(Object.entries(more).map(([name, value]) => [name, JSON.stringify(value)])),
  )
}

export function splitByJobs<T extends { jobs: number }>(places: readonly T[]): T[][] {
  const parts: T[][] = []
  let jobs = Infinity
  for (const place of places) {
    if (jobs + place.jobs > mostJobsInPart) {
      parts.push([])
      jobs = 0
    }
    parts.at(-1)?.push(place)
    jobs += place.jobs
  }
  return parts
}

async function* inPieces<T>(
  parts: ReadonlyArray<readonly T[]>,
  write: (part: readonly T[]) => Promise<string[]>,
): AsyncGenerator<string> {
  let before = '['
  for (const part of parts) {
    for (const text of await write(part)) {
      yield before + text
      before = ','
    }
  }
  yield before === '[' ? '[]' : ']'
}

async function writePart(
  ctx: Context,
  orgs: readonly ShowingOrganization[],
  caller: Caller,
  places: ReadonlyArray<Pick<Place, 'id' | 'organization_id' | 'pipeline_id'>>,
  parts: Parts,
): Promise<string[]> {
  const orgIds = [...new Set(places.map((place) => place.organization_id))]
  const ids = places.map(({ id }) => id)
  const written = await writeBuilds(ctx.db, ctx.config.url, orgIds, ids, parts.jobs)
  const pipelineTexts = parts.pipeline
    ? await writePipelines(ctx, orgs, caller, places)
    : new Map<string, string>()
  return written.flatMap(({ pipeline_id, build, jobs }) => {
    const pipeline = pipelineTexts.get(pipeline_id)
    // A pipeline deleted in between took its builds with it.
    if (parts.pipeline && pipeline === undefined) return []
    return [
      withFields(build, { ...(jobs === null ? {} : { jobs: `[${jobs}]` }), ...(pipeline && { pipeline }) }),
    ]
  })
}

/** The text of an object with further fields, each of which is JSON text itself. */
function withFields(object: string, fields: Record<string, string>): string {
  const added = Object.entries(fields).map(([name, json]) => `,"${name}":${json}`)
  return added.length === 0 ? object : `${object.slice(0, -1)}${added.join('')}}`
}

async function writePipelines(
  ctx: Context,
  orgs: readonly ShowingOrganization[],
  caller: Caller,
  places: ReadonlyArray<Pick<Place, 'organization_id' | 'pipeline_id'>>,
): Promise<Map<string, string>> {
  const texts = new Map<string, string>()
  for (const org of orgs) {
    const own = places.filter((place) => place.organization_id === org.id)
    if (own.length === 0) continue
    const ids = [...new Set(own.map((place) => place.pipeline_id))]
    for (const row of await pipelines.findManyInOrg(ctx.db, org, caller, ids)) {
      texts.set(row.id, JSON.stringify(presentPipeline(ctx.config.url, org.slug, row, caller)))
    }
  }
  return texts
}
