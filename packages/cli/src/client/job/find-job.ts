// Finds the job that a command is about.
import { Refused } from '../../refused.ts'
import { openApi, type Api } from '../api.ts'
import { findBuild, type BuildOptions } from '../find-build.ts'
import { isUuid, readReference } from '../references.ts'
import { oneLine } from '../text.ts'
import { stageOf, type Graph, type Stage, type WatchedJob } from '../watch/graph.ts'
import { WatchedBuild } from '../watch/model.ts'

export interface JobOptions extends BuildOptions {
  build?: string
}

interface FoundJob {
  api: Api
  id: string
}

/**
 * A job is named by its id, by the address of its page, or by the key or name of its step in the build of --build. Without a
 * name, it is the job of the build that most needs a look.
 */
export async function findJob(
  text: string | undefined,
  options: JobOptions,
  interest: Interest = FAILED_FIRST,
): Promise<FoundJob> {
  if (text !== undefined && isUuid(text)) return { api: await openApi(options), id: text }
  const address = text !== undefined && /^https?:\/\//i.test(text) ? text : undefined
  const { api, path, job, name } = await findBuild(address ?? options.build, options)
  if (job !== null) return { api, id: job }
  const graph = await api.get<Graph>(`${path}/graph`)
  const watched = new WatchedBuild(graph)
  watched.load(graph)
  const jobs = watched.steps
    .filter(({ kind }) => kind === 'command')
    .flatMap((step) => watched.jobsOf(step).map((each) => ({ job: each, key: step.key, label: step.label })))
  const wanted = address === undefined ? text : undefined
  if (wanted === undefined)
    return {
      api,
      id: mostInteresting(
        jobs.map((each) => each.job),
        name,
        interest,
      ).id,
    }
  const fitting = jobs.filter(({ job: each, key, label }) =>
    [key, label, each.label, watched.nameOfJob(each)].includes(wanted),
  )
  const [only, ...others] = fitting
  if (only === undefined) {
    const names = [...new Set(jobs.map(({ job: each, key }) => oneLine(key ?? watched.nameOfJob(each))))]
    const isBuild = readReference(wanted, api.url) !== null
    throw new Refused(
      `${name} has no job ${oneLine(wanted)}. ${isBuild ? 'Name a build with --build. ' : ''}Its jobs: ${names.slice(0, 20).join(', ')}.`,
    )
  }
  if (others.length === 0) return { api, id: only.job.id }
  const [wantedStage] = interest
  const [onlyFirst, ...otherFirst] = fitting.filter(({ job: each }) => stageOf(each) === wantedStage)
  if (onlyFirst !== undefined && otherFirst.length === 0) return { api, id: onlyFirst.job.id }
  const lines = fitting
    .slice(0, 20)
    .map(({ job: each }) => `  ${each.id}  ${each.state}  ${watched.nameOfJob(each)}`)
  throw new Refused(
    `${fitting.length} jobs of ${name} are called ${oneLine(wanted)}. Name one by its id:\n${lines.join('\n')}`,
  )
}

/** Stages of jobs, the one that the user most likely means first. */
type Interest = readonly Stage[]

const FAILED_FIRST: Interest = ['failed', 'active', 'passed', 'waiting', 'left out']
export const WAITING_FIRST: Interest = ['waiting', 'left out', 'active', 'failed', 'passed']

function mostInteresting(jobs: readonly WatchedJob[], name: string, interest: Interest): WatchedJob {
  for (const stage of interest) {
    const found = jobs.find((job) => stageOf(job) === stage)
    if (found !== undefined) return found
  }
  throw new Refused(`${name} has no jobs with commands.`)
}
