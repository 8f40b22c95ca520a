// Renders the messages of events, many at once.
import type { Trx } from '../../db/pool.ts'
import { newId } from '../../lib/ids.ts'
import { buildAsOf, jobAsOf, stepAsOf } from './as-of.ts'
import type { FailedJob, Message, MessageData, Person, Shown } from '../messages/message.ts'
import { isAuditEventName, isStepEventName } from '../names.ts'
import { keyOf, type EventTrigger } from './triggers.ts'
import type { Render, Snapshots } from '../messages/snapshots.ts'

/** By `keyOf` of the trigger. Events whose build or agent is deleted are left out. */
export async function renderMessages(
  trx: Trx,
  snapshots: Snapshots,
  triggers: readonly EventTrigger[],
): Promise<Map<string, Message>> {
  if (triggers.length === 0) return new Map()
  const rendered = await renderAll(trx, snapshots, triggers)
  const messages = triggers.flatMap((trigger): Array<[string, Message]> => {
    const data = dataOf(trigger, rendered)
    if (data === null) return []
    return [
      [keyOf(trigger), { id: newId(), event: trigger.event, occurredAt: trigger.row.created_at, ...data }],
    ]
  })
  return new Map(messages)
}

type RenderedBy<D> = D extends Render<infer T> ? Map<string, T> : never
type Rendered = {
  [Name in Exclude<keyof Snapshots, 'organizations' | 'facts' | 'tests'>]: RenderedBy<Snapshots[Name]>
} & {
  tests: Awaited<ReturnType<Snapshots['tests']>>
  organizations: Map<string, Shown>
}

async function renderAll(
  trx: Trx,
  snapshots: Snapshots,
  triggers: readonly EventTrigger[],
): Promise<Rendered> {
  const orgIds = [...new Set(triggers.map(({ row }) => row.organization_id))]
  const suiteIds = [...new Set(triggers.flatMap(({ row }) => row.data.suite_id ?? []))]
  const render = <T>(by: Render<T>, idOf: (trigger: EventTrigger) => string | null | undefined) => {
    const ids = new Set(triggers.flatMap((trigger) => idOf(trigger) ?? []))
    return ids.size === 0 ? Promise.resolve(new Map<string, T>()) : by(trx, orgIds, [...ids])
  }
  return {
    organizations: await snapshots.organizations(trx, orgIds),
    builds: await render(snapshots.builds, ({ row }) => row.build_id),
    pipelines: await render(snapshots.pipelines, ({ row }) => row.pipeline_id),
    jobs: await render(snapshots.jobs, ({ row }) => row.job_id),
    failedJobs: await render(snapshots.failedJobs, (one) => (hasFailures(one) ? one.row.build_id : null)),
    auditEvents: await render(snapshots.auditEvents, ({ row }) => row.data.audit_event_id),
    agents: await render(snapshots.agents, ({ row }) => row.data.agent_id),
    tests: await render(
      (db, orgs, ids) => snapshots.tests(db, orgs, suiteIds, ids),
      ({ row }) => row.data.test_id,
    ),
    budgets: await render(snapshots.budgets, ({ row }) => row.data.budget_id),
    people: await render(snapshots.people, ({ row }) => row.data.person_id),
    clusterTokens: await render(snapshots.clusterTokens, ({ row }) => row.data.cluster_token_id),
    steps: await render(snapshots.steps, ({ event, row }) =>
      isStepEventName(event) ? row.data.step_id : null,
    ),
  }
}

const hasFailures = ({ event }: EventTrigger) => event === 'build.failing' || event === 'build.finished'

function dataOf(trigger: EventTrigger, rendered: Rendered): MessageData | null {
  const { row, states } = trigger
  const organization = rendered.organizations.get(row.organization_id)
  if (organization === undefined) return null
  if (isAuditEventName(trigger.event)) return auditData(row.data.audit_event_id, organization, rendered)
  if (row.data.test_id !== undefined) return testData(trigger, organization, rendered)
  if (row.data.budget_id !== undefined) return budgetData(trigger, organization, rendered)
  if (row.build_id === null) return agentData(trigger, organization, rendered)
  const build = rendered.builds.get(row.build_id)
  const pipeline = rendered.pipelines.get(row.pipeline_id ?? '')
  const job = row.job_id === null ? null : rendered.jobs.get(row.job_id)
  if (build === undefined || pipeline === undefined || job === undefined) return null
  const step = isStepEventName(trigger.event) ? rendered.steps.get(row.data.step_id ?? '')?.step : null
  if (step === undefined) return null
  const failed: readonly FailedJob[] = rendered.failedJobs.get(row.build_id) ?? []
  const shown = buildAsOf(build.build, row)
  const withTriggers = trigger.event === 'build.finished' && build.triggers.length > 0
  return {
    states,
    sender: actor(trigger, build.people, job?.unblockedBy ?? null),
    organization,
    build: withTriggers ? { ...shown, steps: build.triggers } : shown,
    pipeline,
    ...(job === null ? {} : { job: jobAsOf(job.job, row) }),
    ...(step === null ? {} : { step: stepAsOf(step, trigger.event) }),
    ...(hasFailures(trigger) ? { failed_jobs: failed } : {}),
    ...(trigger.event === 'job.promised_exit_status'
      ? { more: { promised_exit_status_reason: row.data.reason ?? null } }
      : {}),
  }
}

function actor(
  { event, row }: EventTrigger,
  { creator, canceledBy }: { creator: Person | null; canceledBy: Person | null },
  unblockedBy: Person | null,
): Person | null {
  if (event === 'job.activated') return unblockedBy ?? creator
  if (event === 'build.finished' && row.data.to === 'canceled') return canceledBy ?? creator
  return creator
}

function auditData(
  id: string | undefined,
  organization: Shown,
  { auditEvents }: Rendered,
): MessageData | null {
  const event = auditEvents.get(id ?? '')
  return event === undefined ? null : { states: [], sender: null, organization, audit_event: event }
}

const stateAfter: Readonly<Record<string, string>> = {
  'test.muted': 'muted',
  'test.skipped': 'skipped',
  'test.enabled': 'enabled',
  'test.quarantine_expired': 'enabled',
}

/** Its state may have changed since. */
function testData(
  { event, row, states }: EventTrigger,
  organization: Shown,
  { tests, people }: Rendered,
): MessageData | null {
  const found = tests.get(row.data.test_id ?? '')
  if (found === undefined) return null
  const { test, suite } = found
  const state = stateAfter[event] ?? test['state']
  const quarantine = state === test['state'] ? test['quarantine'] : null
  const sender = people.get(row.data.person_id ?? '') ?? null
  return { states, sender, organization, test: { ...test, state, quarantine }, suite }
}

/** As it was then: its amount may have changed since. */
function budgetData(
  { row, states }: EventTrigger,
  organization: Shown,
  { budgets }: Rendered,
): MessageData | null {
  const { budget_id: id = '', month, share, amount_micros: amount = 0, spent_micros: spent = 0 } = row.data
  const shown = budgets.get(id)
  if (shown === undefined) return null
  const sums = { amount: amount / 1_000_000, spent: spent / 1_000_000 }
  return { states, sender: null, organization, budget: { ...shown, month, share, ...sums } }
}

function agentData(
  { row, states }: EventTrigger,
  organization: Shown,
  rendered: Rendered,
): MessageData | null {
  const { agent_id: agentId, cluster_token_id: tokenId, blocked_ip: blockedIp } = row.data
  const agent = rendered.agents.get(agentId ?? '')
  const token = rendered.clusterTokens.get(tokenId ?? '')
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
