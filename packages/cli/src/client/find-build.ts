// Finds the build that a command is about.
import type { Build } from '@millrace/server/wire.ts'
import { Refused } from '../refused.ts'
import { openApi, type Api } from './api.ts'
import type { ClientOptions } from './command.ts'
import { findTarget } from './find-target.ts'
import { oneLine } from './text.ts'
import { readReference, type Reference } from './references.ts'

export interface BuildOptions extends ClientOptions {
  pipeline?: string
}

export interface BuildName {
  pipeline: string
  /** Below the organization. */
  path: string
  /** For other commands, such as `web/12`. */
  name: string
}

export const buildName = (pipeline: string, build: string | number): BuildName => ({
  pipeline,
  path: `pipelines/${encodeURIComponent(pipeline)}/builds/${encodeURIComponent(build)}`,
  name: `${pipeline}/${build}`,
})

interface Found extends BuildName {
  api: Api
  /** If the reference is the address of a job. */
  job: string | null
}

/** Without a reference, the newest build of the branch that the user stands on, or of the pipeline. */
export async function findBuild(text: string | undefined, options: BuildOptions): Promise<Found> {
  const first = await openApi(options)
  const reference = text === undefined ? null : getReference(text, first.url)
  const org = reference?.org ?? first.org
  const api = org === first.org ? first : await openApi({ ...options, org })
  const given = reference?.pipeline ?? options.pipeline
  const build = reference?.build ?? null
  if (build !== null) {
    const pipeline = given ?? (await findTarget(api, {})).pipeline
    return { api, job: reference?.job ?? null, ...buildName(pipeline, build) }
  }
  const { pipeline, branch } = await findTarget(api, { pipeline: given })
  const newest = await findNewest(api, pipeline, given === undefined ? branch : null)
  return { api, job: null, ...buildName(pipeline, newest) }
}

function getReference(text: string, url: string): Reference {
  const reference = readReference(text, url)
  if (reference !== null) return reference
  throw new Refused(
    `${oneLine(text)} names no build: write its number, PIPELINE/NUMBER, or the address of its page.`,
  )
}

async function findNewest(api: Api, pipeline: string, branch: string | null): Promise<number> {
  const query = new URLSearchParams({ per_page: '1', exclude_jobs: 'true', exclude_pipeline: 'true' })
  if (branch !== null) query.set('branch', branch)
  const path = `pipelines/${encodeURIComponent(pipeline)}/builds?${query.toString()}`
  const [newest] = await api.get<Build[]>(path)
  if (newest !== undefined) return newest.number
  const where = branch === null ? '' : ` on the branch ${oneLine(branch)}`
  throw new Refused(`${oneLine(pipeline)} has no builds${where}: start one with millrace build create.`)
}
