// What a search has found, by build and job, in the order in which it came.
import type { Schemas } from '../../api/operations.ts'

export type Hit = Schemas['LogSearchHit']
export type Progress = Schemas['LogSearchProgress']

interface FoundJob {
  job: Hit['job']
  hits: Hit[]
}

export interface FoundBuild {
  build: Hit['build']
  jobs: FoundJob[]
}

export function groupHits(hits: readonly Hit[]): FoundBuild[] {
  const builds = new Map<string, FoundBuild>()
  for (const hit of hits) {
    const found = builds.get(hit.build.id) ?? { build: hit.build, jobs: [] }
    builds.set(hit.build.id, found)
    const ofJob = found.jobs.find(({ job }) => job.id === hit.job.id)
    if (ofJob === undefined) found.jobs.push({ job: hit.job, hits: [hit] })
    else ofJob.hits.push(hit)
  }
  return [...builds.values()]
}

const number = (count: number) => count.toLocaleString('en')

/** "Searched 812 of 1,200 logs." */
export const progressText = (
  { searched, total, is_total_exact: isExact }: Progress,
  isFailures: boolean,
): string =>
  `searched ${number(searched)} of ${isExact ? '' : 'more than '}${number(total)} ${isFailures ? 'failed jobs' : 'logs'}`
