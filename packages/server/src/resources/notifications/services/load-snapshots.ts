// Renders builds, jobs and agents for messages as the REST API shows them.
import { sql } from 'kysely'
import type { ConditionFacts } from '@millrace/engine/conditions/facts.ts'
import { fillStepLabel } from '@millrace/engine/labels/step-label.ts'
import { stepOutcomeOf, stepStateOf } from '@millrace/engine/outcome.ts'
import type { StepRow } from '@millrace/engine/rows.ts'
import type { NotifyEntry } from '@millrace/engine/steps/types.ts'
import { conditionFacts, findBuild } from '../../../conductor/build.ts'
import { selectFields, stepColumns } from '../../../conductor/rows.ts'
import { escaped } from '../../../db/json-text.ts'
import type { AuditEventShown, FailedJob, Person, Shown } from '../../../notifications/messages/message.ts'
import type { BuildPeople, Snapshots } from '../../../notifications/messages/snapshots.ts'
import { presentAgent } from '../../clusters/agents/present.ts'
import * as agents from '../../clusters/agents/queries.ts'
import { writeBuilds } from '../../builds/builds/build-json.ts'
import { presentClusterToken } from '../../clusters/cluster-tokens/present.ts'
import * as clusterTokens from '../../clusters/cluster-tokens/queries.ts'
import { jobJson, jobsInBuilds, shownState } from '../../job/job-json.ts'
import { presentOrganization } from '../../people/organizations/present.ts'
import * as organizations from '../../people/organizations/queries.ts'
import { presentPipeline } from '../../pipelines/pipelines/present.ts'
import * as pipelines from '../../pipelines/pipelines/queries.ts'
import { loadBudgets } from '../../insights/budgets/snapshots.ts'
import { loadTests } from '../../tests/tests/snapshots.ts'

const mostFailedJobs = 10

const person = (id: string) => sql<Person | null>`(
  select json_build_object('id', u.id, 'name', u.name) from users u where u.id = ${sql.ref(id)})`

/** `url` is the installation's address. */
export function loadSnapshots(url: string): Snapshots {
  return {
    async organizations(db, ids) {
      const rows = await organizations.listById(db, ids)
      return new Map(rows.map((row) => [row.id, presentOrganization(url, row)]))
    },

    async builds(db, orgIds, ids) {
      const written = await writeBuilds(db, url, orgIds, ids, null)
      const { rows } = await sql<BuildPeople & { id: string; triggers: Shown[] | null }>`
        select b.id, ${person('b.creator_id')} as creator, ${person('b.canceled_by')} as "canceledBy", (
          select json_agg(json_build_object('id', j.step_id, 'type', 'trigger', 'job_id', j.id, 'async', j.work -> 'async',
            'triggered_build_id', j.triggered_build_id) order by j.position)
          from jobs j where j.build_id = b.id and j.kind = 'trigger' and j.retried_in_job_id is null) as triggers
        from builds b where b.organization_id = any (${orgIds}::uuid[]) and b.id = any (${ids}::uuid[])`.execute(
        db,
      )
      const more = new Map(rows.map((row) => [row.id, row]))
      return new Map(
        written.flatMap(({ build }) => {
          const { env: _env, ...shown } = JSON.parse(build) as Record<string, unknown>
          const found = more.get(String(shown['id']))
          if (found === undefined) return []
          const { creator, canceledBy, triggers } = found
          return [[found.id, { build: shown, people: { creator, canceledBy }, triggers: triggers ?? [] }]]
        }),
      )
    },

    async pipelines(db, orgIds, ids) {
      const rows = await pipelines.listWithoutCaller(db, orgIds, ids)
      const shown = new Map<string, Awaited<ReturnType<typeof presentPipeline>>>()
      for (const row of rows) shown.set(row.id, await presentPipeline(url, row.organization_slug, row, null))
      return shown
    },

    async jobs(db, orgIds, ids) {
      const { rows } = await sql<{
        id: string
        job: string
        retriedBy: { name: string; email: string } | null
        unblockedBy: Person | null
      }>`
        select j.id, ${jobJson(escaped(url))} as job, ${person('j.unblocked_by')} as "unblockedBy", (
          select json_build_object('name', u.name, 'email', u.email)
          from jobs source join users u on u.id = source.retried_by where source.id = j.retry_source_job_id) as "retriedBy"
        from ${jobsInBuilds}
        where j.organization_id = any (${orgIds}::uuid[]) and j.id = any (${ids}::uuid[])`.execute(db)
      return new Map(
        rows.map(({ id, job, retriedBy, unblockedBy }) => {
          const shown = JSON.parse(job) as Record<string, unknown>
          const source = shown['retry_source']
          const retry = source === null ? null : { ...(source as object), retried_by: retriedBy }
          return [id, { job: { ...shown, retry_source: retry }, unblockedBy }]
        }),
      )
    },

    async failedJobs(db, orgIds, buildIds) {
      const { rows } = await sql<FailedJob & { build_id: string }>`
        select f.* from unnest(${buildIds}::uuid[]) as wanted (id) cross join lateral (
          select b.id as build_id, j.id, coalesce(j.work ->> 'label', j.work ->> 'command', j.step_key) as name,
            ${shownState} as state, j.exit_status, j.soft_failed,
            ${url}::text || '/' || o.slug || '/' || p.slug || '/builds/' || b.number || '#' || j.id as web_url
          from ${jobsInBuilds}
          where j.build_id = wanted.id and j.organization_id = any (${orgIds}::uuid[]) and j.retried_in_job_id is null
            and j.state in ('failed', 'timed_out', 'expired') and not j.soft_failed
          order by j.position, j.id limit ${mostFailedJobs}
        ) f`.execute(db)
      const byBuild = new Map<string, FailedJob[]>()
      for (const { build_id: buildId, ...job } of rows) {
        byBuild.set(buildId, [...(byBuild.get(buildId) ?? []), job])
      }
      return byBuild
    },

    async facts(db, builds) {
      const facts = new Map<string, ConditionFacts>()
      for (const { orgId, buildId } of builds) {
        const build = await findBuild(db, orgId, buildId)
        if (build !== undefined) facts.set(buildId, conditionFacts(build))
      }
      return facts
    },

    async agents(db, orgIds, ids) {
      const rows = await agents.listWithoutCaller(db, url, orgIds, ids)
      return new Map(rows.map((row) => [row.id, presentAgent(url, row.organization_slug, row)]))
    },

    async auditEvents(db, orgIds, ids) {
      const { rows } = await sql<AuditEventShown>`
        select id, type, occurred_at, actor, subject, context, data from audit_events
        where organization_id = any (${orgIds}::uuid[]) and id = any (${ids}::uuid[])`.execute(db)
      return new Map(rows.map((row) => [row.id, row]))
    },

    async steps(db, orgIds, ids) {
      const { rows } = await sql<
        StepRow & { label: string | null; job_labels: string[]; notify: NotifyEntry[] }
      >`
        select ${selectFields('s', stepColumns)}, s.definition ->> 'label' as label, s.definition -> 'notify' as notify,
          array(
            select j.work ->> 'label' from jobs j
            where j.build_id = s.build_id and j.step_id = s.id and j.work ->> 'label' is not null
            order by j.slot) as job_labels
        from build_steps s
        where s.organization_id = any (${orgIds}::uuid[]) and s.id = any (${ids}::uuid[])
          and jsonb_array_length(coalesce(s.definition -> 'notify', '[]')) > 0`.execute(db)
      return new Map(
        rows.map((row) => {
          const { id, key, label, kind, notify } = row
          const name = label === null ? null : fillStepLabel(label, row.job_labels)
          const step = { id, key, label, name, state: stepStateOf(row), outcome: stepOutcomeOf(row) }
          return [id, { step, type: kind, notify }]
        }),
      )
    },

    tests: (db, orgIds, suiteIds, ids) => loadTests(db, url, orgIds, suiteIds, ids),

    budgets: (db, orgIds, ids) => loadBudgets(db, url, orgIds, ids),

    async people(db, orgIds, ids) {
      const { rows } = await sql<Person>`
        select u.id, u.name from users u
        where u.id = any (${ids}::uuid[]) and exists (
          select from organization_members m where m.organization_id = any (${orgIds}::uuid[]) and m.user_id = u.id)`.execute(
        db,
      )
      return new Map(rows.map((row) => [row.id, row]))
    },

    async clusterTokens(db, orgIds, ids) {
      const rows = await clusterTokens.listById(db, orgIds, ids)
      return new Map(rows.map((row) => [row.id, presentClusterToken(url, row.organization_slug, row)]))
    },
  }
}
