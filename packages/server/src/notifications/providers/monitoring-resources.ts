// One end of a build for the CI intake of a monitoring site: the run of the pipeline, its stages (top-level steps or groups)
// and their jobs.
import { groupBy } from '../../lib/group-by.ts'
import { resultOf, resultOfAll, spanOf, type History, type PastJob, type Result } from './history.ts'
import { textIn, type Message, type Shown } from '../messages/message.ts'

export function resourcesOf(message: Message, history: History, tags: readonly string[]): object[] {
  const { build = {}, pipeline = {}, organization } = message
  const run: Run = {
    // For the site every end of a build is a run. The first one has the id of the build.
    id: runId(textIn(build, 'id'), history.stage.number),
    name: textIn(pipeline, 'name'),
    git: gitOf(build, pipeline),
    tags: [...ownTags(message), ...tags],
  }
  const stages = [...groupBy(history.jobs, ({ group, step }) => (group ?? step).id).values()]
  return [
    pipelineOf(run, build, textIn(organization, 'web_url'), history),
    ...stages.map((jobs) => stageOf(run, jobs)),
    ...history.jobs.map((job) => jobOf(run, job)),
  ]
}

interface Run {
  id: string
  name: string
  git: object
  tags: readonly string[]
}

const runId = (buildId: string, stage: number) => (stage === 1 ? buildId : `${buildId}-${stage}`)

function pipelineOf(run: Run, build: Shown, home: string, { stage, triggeredBy }: History): object {
  const [buildId, url] = [textIn(build, 'id'), textIn(build, 'web_url')]
  const parent = build['triggered_from'] as Shown | null
  return {
    level: 'pipeline',
    unique_id: run.id,
    name: run.name,
    url,
    start: stage.startedAt,
    end: stage.endedAt,
    status: statusOfBuild(build),
    partial_retry: stage.verdictsBefore > 0,
    is_manual: ['ui', 'api'].includes(textIn(build, 'source')),
    is_resumed: stage.number > 1 && stage.verdictsBefore === 0,
    ...queueTime(textIn(build, 'scheduled_at'), stage.number === 1 ? stage.startedAt : null),
    ...(stage.number === 1 ? {} : { previous_attempt: { id: runId(buildId, stage.number - 1), url } }),
    ...(triggeredBy === null || !parent
      ? {}
      : {
          parent_pipeline: {
            id: triggeredBy.buildId,
            url: `${home}/${textIn(parent, 'build_pipeline_slug')}/builds/${textIn(parent, 'build_number')}`,
          },
        }),
    tags: run.tags,
    ...run.git,
  }
}

function stageOf(run: Run, jobs: readonly [PastJob, ...PastJob[]]): object {
  const { startedAt, endedAt } = spanOf(jobs)
  return {
    level: 'stage',
    id: stageId(run, jobs[0]),
    name: stageName(jobs[0]),
    pipeline_unique_id: run.id,
    pipeline_name: run.name,
    start: startedAt,
    end: endedAt,
    status: statuses[resultOfAll(jobs)],
    tags: run.tags,
    ...run.git,
  }
}

function jobOf(run: Run, job: PastJob): object {
  const result = resultOf(job)
  return {
    level: 'job',
    id: job.id,
    name: job.name,
    url: job.webUrl,
    pipeline_unique_id: run.id,
    pipeline_name: run.name,
    stage_id: stageId(run, job),
    stage_name: stageName(job),
    start: job.startedAt,
    end: job.finishedAt,
    status: statuses[result],
    ...queueTime(job.runnableAt, job.startedAt),
    ...(result === 'failure' || result === 'timeout' ? { error: errorOf(job) } : {}),
    ...(job.agent === null ? {} : { node: { name: job.agent.name } }),
    tags: [
      ...run.tags,
      `job.type:${job.kind}`,
      ...(job.step.key === null ? [] : [`step.key:${job.step.key}`]),
      ...(job.queue === null ? [] : [`queue:${job.queue}`]),
      ...(job.softFailed ? ['soft_failed:true'] : []),
      ...(job.retryOf === null ? [] : [`retry_of:${job.retryOf.jobId}`]),
    ],
    ...run.git,
  }
}

const stageId = (run: Run, { group, step }: PastJob) => `${run.id}/${(group ?? step).id}`

const stageName = ({ group, step, name }: PastJob) =>
  group === null ? (step.label ?? step.key ?? name) : (group.label ?? group.key ?? 'Group')

const statuses: Readonly<Record<Result, string>> = {
  success: 'success',
  failure: 'error',
  timeout: 'error',
  cancellation: 'canceled',
}

function statusOfBuild(build: Shown): string {
  if (build['blocked'] === true) return 'blocked'
  const state = textIn(build, 'state')
  return state === 'failed' ? 'error' : state === 'canceled' ? 'canceled' : 'success'
}

const errorOf = ({ state, exitStatus, signal }: PastJob) => ({
  type: state,
  domain: 'user',
  message:
    state !== 'failed'
      ? 'The job took too long.'
      : signal === null
        ? `The command exited with status ${exitStatus}.`
        : `The command was ended by ${signal}.`,
})

function queueTime(from: string | null, to: string | null): { queue_time?: number } {
  if (!from || to === null) return {}
  return { queue_time: Math.max(0, Date.parse(to) - Date.parse(from)) }
}

const ownTags = ({ build = {}, pipeline = {}, organization }: Message) => [
  `organization:${textIn(organization, 'slug')}`,
  `pipeline:${textIn(pipeline, 'slug')}`,
  `build.number:${textIn(build, 'number')}`,
  `build.source:${textIn(build, 'source')}`,
]

/** The intake rejects runs with an abbreviated commit or without the author's address; those are sent without git data. */
function gitOf(build: Shown, pipeline: Shown): { git?: object } {
  const author = (build['author'] ?? build['creator'] ?? {}) as Shown
  const [commit, email] = [textIn(build, 'commit'), textIn(author, 'email')]
  if (!/^[0-9a-f]{40}$/.test(commit) || email === '') return {}
  const tag = textIn(build, 'tag')
  return {
    git: {
      repository_url: textIn(pipeline, 'repository'),
      sha: commit,
      author_email: email,
      author_name: textIn(author, 'name'),
      message: textIn(build, 'message'),
      branch: textIn(build, 'branch'),
      default_branch: textIn(pipeline, 'default_branch'),
      ...(tag === '' ? {} : { tag }),
    },
  }
}
