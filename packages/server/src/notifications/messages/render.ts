// Makes messages of what has happened, many at once.
import type { Trx } from '../../db/pool.ts'
import { newId } from '../../lib/ids.ts'
import { buildAsOf, jobAsOf, stepAsOf } from '../outbox/as-of.ts'
import type { FailedJob, Message, MessageData, Person, Shown } from './message.ts'
import { isStepEventName } from '../names.ts'
import type { EventOccasion } from '../outbox/triggers.ts'
import type { Draw, Snapshots } from './snapshots.ts'

/** Without those whose subject is gone. */
export async function drawMessages(
  trx: Trx,
  snapshots: Snapshots,
  occasions: readonly EventOccasion[],
): Promise<Map<EventOccasion, Message>> {
  if (occasions.length === 0) return new Map()
  const pictures = await drawAll(trx, snapshots, occasions)
  const messages = occasions.flatMap((occasion): Array<[EventOccasion, Message]> => {
    const data = dataOf(occasion, pictures)
    if (data === null) return []
    return [[occasion, { id: newId(), event: occasion.event, occurredAt: occasion.row.created_at, ...data }]]
  })
  return new Map(messages)
}

type Drawn<D> = D extends Draw<infer T> ? Map<string, T> : never
type Pictures = { [Name in Exclude<keyof Snapshots, 'organizations' | 'facts'>]: Drawn<Snapshots[Name]> } & {
  organizations: Map<string, Shown>
}

async function drawAll(
  trx: Trx,
  snapshots: Snapshots,
  occasions: readonly EventOccasion[],
): Promise<Pictures> {
  const rows = occasions.map(({ row }) => row)
  const unique = (ids: ReadonlyArray<string | null | undefined>) => [
    ...new Set(ids.filter((id) => id !== null && id !== undefined)),
  ]
  const orgIds = unique(rows.map((row) => row.organization_id))
  const draw = <T>(how: Draw<T>, given: ReadonlyArray<string | null | undefined>) => {
    const ids = unique(given)
    return ids.length === 0 ? Promise.resolve(new Map<string, T>()) : how(trx, orgIds, ids)
  }
  return {
    organizations: await snapshots.organizations(trx, orgIds),
    builds: await draw(
      snapshots.builds,
      rows.map((row) => row.build_id),
    ),
    pipelines: await draw(
      snapshots.pipelines,
      rows.map((row) => row.pipeline_id),
    ),
    jobs: await draw(
      snapshots.jobs,
      rows.map((row) => row.job_id),
    ),
    failedJobs: await draw(
      snapshots.failedJobs,
      occasions.filter(hasFailures).map(({ row }) => row.build_id),
    ),
    agents: await draw(
      snapshots.agents,
      rows.map(({ data }) => data.agent_id),
    ),
    clusterTokens: await draw(
      snapshots.clusterTokens,
      rows.map(({ data }) => data.cluster_token_id),
    ),
    steps: await draw(
      snapshots.steps,
      occasions.flatMap(({ event, row }) => (isStepEventName(event) ? [row.data.step_id] : [])),
    ),
  }
}

const hasFailures = ({ event }: EventOccasion) => event === 'build.failing' || event === 'build.finished'

function dataOf(occasion: EventOccasion, pictures: Pictures): MessageData | null {
  const { row, states } = occasion
  const organization = pictures.organizations.get(row.organization_id)
  if (organization === undefined) return null
  if (row.build_id === null) return agentData(occasion, organization, pictures)
  const build = pictures.builds.get(row.build_id)
  const pipeline = pictures.pipelines.get(row.pipeline_id ?? '')
  const job = row.job_id === null ? null : pictures.jobs.get(row.job_id)
  if (build === undefined || pipeline === undefined || job === undefined) return null
  const step = isStepEventName(occasion.event) ? pictures.steps.get(row.data.step_id ?? '')?.step : null
  if (step === undefined) return null
  const failed: readonly FailedJob[] = pictures.failedJobs.get(row.build_id) ?? []
  const shown = buildAsOf(build.build, row)
  const withTriggers = occasion.event === 'build.finished' && build.triggers.length > 0
  return {
    states,
    sender: actor(occasion, build.people, job?.unblockedBy ?? null),
    organization,
    build: withTriggers ? { ...shown, steps: build.triggers } : shown,
    pipeline,
    ...(job === null ? {} : { job: jobAsOf(job.job, row) }),
    ...(step === null ? {} : { step: stepAsOf(step, occasion.event) }),
    ...(hasFailures(occasion) ? { failed_jobs: failed } : {}),
    ...(occasion.event === 'job.promised_exit_status'
      ? { more: { promised_exit_status_reason: row.data.reason ?? null } }
      : {}),
  }
}

function actor(
  { event, row }: EventOccasion,
  { creator, canceledBy }: { creator: Person | null; canceledBy: Person | null },
  unblockedBy: Person | null,
): Person | null {
  if (event === 'job.activated') return unblockedBy ?? creator
  if (event === 'build.finished' && row.data.to === 'canceled') return canceledBy ?? creator
  return creator
}

function agentData(
  { row, states }: EventOccasion,
  organization: Shown,
  pictures: Pictures,
): MessageData | null {
  const { agent_id: agentId, cluster_token_id: tokenId, blocked_ip: blockedIp } = row.data
  const agent = pictures.agents.get(agentId ?? '')
  const token = pictures.clusterTokens.get(tokenId ?? '')
  if (agent === undefined && token === undefined) return null
  return {
    states,
    sender: null,
    organization,
    ...(agent === undefined ? {} : { agent }),
    ...(token === undefined ? {} : { cluster_token: token }),
    ...(blockedIp === undefined ? {} : { more: { blocked_ip: blockedIp } }),
  }
}
