// One end of a build as spans: build -> build.stage -> step (or step.group -> step) -> job. The build is the trace. Ids are
// derived from the build, step or job, so that a retry sends the same spans and other builds can be linked without a lookup.
import { createHash } from 'node:crypto'
import { groupBy } from '../../lib/group-by.ts'
import {
  createTraceState,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Attributes,
  type HrTime,
  type Link,
  type SpanContext,
} from '@opentelemetry/api'
import { resourceFromAttributes } from '@opentelemetry/resources'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import {
  resultOf,
  resultOfAll,
  spanOf,
  type History,
  type PastJob,
  type PastStep,
  type Result,
} from './history.ts'
import { textIn, type Message, type Shown } from '../messages/message.ts'

export interface TracingSettings {
  endpoint: string
  service_name?: string
  headers?: Record<string, string>
  resource_attributes?: Record<string, string>
  tracestate?: string
}

interface Piece {
  name: string
  id: string
  parentId: string | null
  startedAt: string
  endedAt: string
  result: Result | null
  attributes: Attributes
  links?: Link[]
}

/** Parents before children. The span of the build itself is sent with its first end that is not a block. */
export function spansOf(settings: TracingSettings, message: Message, history: History): ReadableSpan[] {
  const { build = {}, pipeline = {}, organization } = message
  const buildId = textIn(build, 'id')
  const { stage, jobs } = history
  const stageId = idOf(buildId, 'stage', String(stage.number))
  const pieces: Piece[] = [
    {
      name: 'build.stage',
      id: stageId,
      parentId: idOf(buildId, 'build'),
      startedAt: stage.startedAt,
      endedAt: stage.endedAt,
      result: buildResult(build),
      attributes: {
        'millrace.build.stage': stage.number,
        'millrace.build.state': textIn(build, 'state'),
        'millrace.build.blocked': build['blocked'] === true,
      },
    },
    ...[...groupBy(jobs, ({ group, step }) => (group ?? step).id).values()].flatMap((some) =>
      topSpans(buildId, stageId, some),
    ),
  ]
  if (build['blocked'] !== true && stage.verdictsBefore === 0) {
    pieces.unshift(buildPiece(buildId, build, pipeline, organization, history))
  }
  const traceState = settings.tracestate === undefined ? undefined : createTraceState(settings.tracestate)
  const resource = resourceFromAttributes({
    ...settings.resource_attributes,
    'service.name': settings.service_name ?? 'millrace',
  })
  const context = (spanId: string): SpanContext => ({
    traceId: traceIdOf(buildId),
    spanId,
    traceFlags: TraceFlags.SAMPLED,
    ...(traceState === undefined ? {} : { traceState }),
  })
  return pieces.map((piece) => ({
    name: piece.name,
    kind: SpanKind.INTERNAL,
    spanContext: () => context(piece.id),
    ...(piece.parentId === null ? {} : { parentSpanContext: context(piece.parentId) }),
    startTime: time(piece.startedAt),
    endTime: time(piece.endedAt),
    duration: [0, 0],
    ended: true,
    status: statusOf(piece.result),
    attributes: piece.attributes,
    links: piece.links ?? [],
    events: [],
    resource,
    instrumentationScope: { name: 'millrace' },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  }))
}

function topSpans(buildId: string, stageId: string, jobs: readonly [PastJob, ...PastJob[]]): Piece[] {
  const { group } = jobs[0]
  if (group === null) return stepSpans(buildId, stageId, jobs)
  const id = idOf(stageId, 'group', group.id)
  const steps = [...groupBy(jobs, ({ step }) => step.id).values()]
  return [
    holder('step.group', id, stageId, group, jobs),
    ...steps.flatMap((ofStep) => stepSpans(buildId, id, ofStep)),
  ]
}

function stepSpans(buildId: string, parentId: string, jobs: readonly [PastJob, ...PastJob[]]): Piece[] {
  const id = idOf(parentId, 'step', jobs[0].step.id)
  return [holder('step', id, parentId, jobs[0].step, jobs), ...jobs.map((job) => jobPiece(buildId, id, job))]
}

const holder = (
  name: string,
  id: string,
  parentId: string,
  step: PastStep,
  jobs: readonly [PastJob, ...PastJob[]],
): Piece => ({
  name,
  id,
  parentId,
  ...spanOf(jobs),
  result: resultOfAll(jobs),
  attributes: known({
    'millrace.step.id': step.id,
    'millrace.step.key': step.key,
    'millrace.step.label': step.label,
    'millrace.step.jobs': jobs.length,
  }),
})

function buildPiece(
  buildId: string,
  build: Shown,
  pipeline: Shown,
  organization: Shown,
  { stage, triggeredBy }: History,
): Piece {
  const source = build['rebuilt_from'] as { id: string } | null
  const links = [
    ...(triggeredBy === null
      ? []
      : [link(triggeredBy.buildId, idOf(triggeredBy.jobId, 'job'), 'triggered_by')]),
    ...(source ? [link(source.id, idOf(source.id, 'build'), 'rebuilt_from')] : []),
  ]
  const pull = (build['pull_request'] ?? {}) as Shown
  const result = buildResult(build)
  return {
    name: 'build',
    id: idOf(buildId, 'build'),
    parentId: null,
    startedAt: textIn(build, 'created_at'),
    endedAt: stage.endedAt,
    result,
    links,
    attributes: known({
      'cicd.pipeline.name': textIn(pipeline, 'name'),
      'cicd.pipeline.result': result,
      'cicd.pipeline.run.id': buildId,
      'cicd.pipeline.run.url.full': textIn(build, 'web_url'),
      'vcs.repository.url.full': textIn(pipeline, 'repository'),
      'vcs.ref.head.name': textIn(build, 'branch'),
      'vcs.ref.head.revision': textIn(build, 'commit'),
      'vcs.change.id': textIn(pull, 'id'),
      'millrace.organization.slug': textIn(organization, 'slug'),
      'millrace.pipeline.slug': textIn(pipeline, 'slug'),
      'millrace.build.number': Number(build['number']),
      'millrace.build.state': textIn(build, 'state'),
      'millrace.build.source': textIn(build, 'source'),
      'millrace.build.message': textIn(build, 'message'),
      'millrace.build.tag': build['tag'] === null ? null : textIn(build, 'tag'),
      'millrace.build.scheduled_at': textIn(build, 'scheduled_at'),
      'millrace.build.started_at': textIn(build, 'started_at'),
    }),
  }
}

const jobPiece = (buildId: string, parentId: string, job: PastJob): Piece => ({
  name: 'job',
  id: idOf(job.id, 'job'),
  parentId,
  startedAt: job.startedAt,
  endedAt: job.finishedAt,
  result: resultOf(job),
  links: [
    ...(job.retryOf === null ? [] : [link(buildId, idOf(job.retryOf.jobId, 'job'), 'retry_of')]),
    ...(job.triggeredBuildId === null
      ? []
      : [link(job.triggeredBuildId, idOf(job.triggeredBuildId, 'build'), 'triggered')]),
  ],
  attributes: known({
    'cicd.pipeline.task.name': job.name,
    'cicd.pipeline.task.run.id': job.id,
    'cicd.pipeline.task.run.url.full': job.webUrl,
    'cicd.pipeline.task.run.result': resultOf(job),
    'cicd.worker.id': job.agent?.id ?? null,
    'cicd.worker.name': job.agent?.name ?? null,
    'millrace.job.type': job.kind,
    'millrace.job.state': job.state,
    'millrace.job.command': job.command,
    'millrace.job.exit_status': job.exitStatus,
    'millrace.job.signal': job.signal,
    'millrace.job.signal_reason': job.signalReason,
    'millrace.job.soft_failed': job.softFailed,
    'millrace.job.runnable_at': job.runnableAt,
    'millrace.job.parallel.index': job.parallelIndex,
    'millrace.job.parallel.total': job.parallelTotal,
    'millrace.job.retry_type': job.retryOf?.type ?? null,
    'millrace.queue.key': job.queue,
    'millrace.step.key': job.step.key,
  }),
})

const traceIdOf = (buildId: string) => buildId.replaceAll('-', '')

const idOf = (...parts: string[]) => createHash('sha256').update(parts.join(' ')).digest('hex').slice(0, 16)

const link = (buildId: string, spanId: string, kind: string): Link => ({
  context: { traceId: traceIdOf(buildId), spanId, traceFlags: TraceFlags.SAMPLED },
  attributes: { 'millrace.link.kind': kind },
})

const known = (attributes: Record<string, string | number | boolean | null>): Attributes =>
  Object.fromEntries(
    Object.entries(attributes).flatMap(([name, value]) =>
      value === null || value === '' ? [] : [[name, value]],
    ),
  )

function time(iso: string): HrTime {
  const ms = Date.parse(iso)
  return [Math.floor(ms / 1000), (ms % 1000) * 1_000_000]
}

/** null: it has not ended. */
function buildResult(build: Shown): Result | null {
  if (build['blocked'] === true) return null
  const state = textIn(build, 'state')
  return state === 'failed' ? 'failure' : state === 'canceled' ? 'cancellation' : 'success'
}

function statusOf(result: Result | null): { code: SpanStatusCode; message?: string } {
  if (result === null || result === 'cancellation') return { code: SpanStatusCode.UNSET }
  return result === 'success'
    ? { code: SpanStatusCode.OK }
    : { code: SpanStatusCode.ERROR, message: result === 'timeout' ? 'It took too long.' : 'It failed.' }
}
