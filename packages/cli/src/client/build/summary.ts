// Why a build failed, in one answer that fits a screen or the context of a program.
import type { FailureSummary } from '@millrace/server/wire.ts'
import { showText } from '../pager.ts'
import { openStyle, stateText, type Style } from '../style.ts'
import { styledRow } from '../log-rows.ts'
import { oneLine, printable, readable } from '../text.ts'
import { findBuild, type BuildOptions } from '../find-build.ts'

export interface SummaryOptions extends BuildOptions {
  maxJobs?: number
  maxBytes?: number
}

export async function summarizeBuild(text: string | undefined, options: SummaryOptions): Promise<void> {
  const { api, path } = await findBuild(text, options)
  const query = new URLSearchParams()
  if (options.maxJobs !== undefined) query.set('max_jobs', String(options.maxJobs))
  if (options.maxBytes !== undefined) query.set('max_bytes', String(options.maxBytes))
  const style = openStyle(options)
  if (style.hasColor && !options.json) query.set('styles', 'true')
  const summary = await api.get<FailureSummary>(`${path}/failure_summary?${query.toString()}`)
  if (options.json) console.log(JSON.stringify(summary))
  else await showText(describeSummary(summary, style).join('\n'))
}

export function describeSummary(summary: FailureSummary, style: Style): string[] {
  const { build, counts, jobs, annotations, tests, waiting, first_bad: bad, truncated } = summary
  const state = stateText(style, build.blocked ? 'blocked' : build.state)
  const title = `Build #${build.number} of ${oneLine(build.pipeline_slug)} on ${oneLine(build.branch)}`
  return [
    `${style.bold(title)}  ${state}`,
    describeCounts(counts),
    ...jobs.flatMap((job) => describeJob(job, style)),
    ...section(style, 'Failed tests', tests.map(describeTest)),
    ...section(
      style,
      'Error annotations',
      annotations.map(
        ({ context, text }) => `${oneLine(context)}: ${readable(text).replaceAll('\n', '\n  ')}`,
      ),
    ),
    ...section(
      style,
      'Waiting',
      waiting.map(
        ({ name, step_key: key, reason, jobs: count }) =>
          `${oneLine(name ?? key ?? 'a job')}${count > 1 ? ` and ${count - 1} more` : ''}: ${oneLine(reason)}`,
      ),
    ),
    ...(bad === null
      ? []
      : [
          '',
          `Build #${bad.last_passed.number} was the last that passed, #${bad.first_failed.number} the first that failed` +
            (bad.commits === null ? '.' : `: git log ${oneLine(bad.commits)}`),
        ]),
    ...(truncated === null ? [] : ['', style.dim(oneLine(truncated.reason))]),
  ]
}

function describeCounts(counts: FailureSummary['counts']): string {
  const parts = [
    [counts.hard_failures, 'failed'],
    [counts.soft_failures, 'failed without counting'],
    [counts.failed_tests, 'tests failed'],
    [counts.passed, 'passed'],
    [counts.running, 'running'],
    [counts.waiting, 'waiting'],
    [counts.canceled, 'canceled'],
    [counts.not_run, 'not run'],
  ] as const
  const shown = parts.flatMap(([count, word]) => (count === 0 ? [] : [`${count} ${word}`]))
  return [`${counts.jobs} ${counts.jobs === 1 ? 'job' : 'jobs'}`, ...shown].join(', ')
}

function describeJob(job: FailureSummary['jobs'][number], style: Style): string[] {
  const facts = [
    job.reason === null ? '' : oneLine(job.reason),
    job.soft_failed ? 'does not count' : '',
    job.attempt > 1 ? `attempt ${job.attempt}` : '',
    job.agent === null ? '' : `on ${oneLine(job.agent)}`,
  ].filter((fact) => fact !== '')
  const { log } = job
  return [
    '',
    `${stateText(style, job.state)}  ${style.bold(oneLine(job.name ?? job.command ?? job.id))}${facts.length === 0 ? '' : `  ${facts.join(', ')}`}`,
    ...(log.group === null ? [] : [`  ${style.dim(oneLine(log.group))}`]),
    ...log.rows.map(({ text, runs }) =>
      style.hasColor && runs !== undefined
        ? `  | ${styledRow([null, ...runs])}`
        : `  | ${printable(text).replaceAll('\n', ' ')}`,
    ),
    ...(log.status === 'shown' ? [`  ${style.dim(`The whole log: millrace job log ${job.id}`)}`] : []),
  ]
}

function describeTest(test: FailureSummary['tests'][number]): string {
  const name = [test.scope, test.name]
    .map(oneLine)
    .filter((part) => part !== '')
    .join(' ')
  const location = test.location === null ? '' : ` (${oneLine(test.location)})`
  const reason = test.failure_reason === null ? '' : `: ${oneLine(test.failure_reason)}`
  const quarantine = test.quarantine === null ? '' : `, ${test.quarantine}`
  return `${name}${location}${quarantine}${test.flaky ? ', flaky' : ''}${reason}`
}

const section = (style: Style, title: string, entries: readonly string[]): string[] =>
  entries.length === 0 ? [] : ['', style.bold(title), ...entries.map((entry) => `  ${entry}`)]
