// Which results a caller sees: those of pipelines that they see, and those of no pipeline.
import { sql } from 'kysely'
import type { Caller, Organization } from '../../../auth/caller.ts'
import { hasFullAccess, visiblePipelines } from '../../../auth/pipeline-access.ts'

/** For queries with the `builds b` of a run, if it has one. */
export const isVisibleRun = (org: Organization, caller: Caller) => sql`
  (b.id is null or exists (
    select from pipelines p where p.id = b.pipeline_id and ${visiblePipelines(org, caller)}))`

/** For queries with `test_days d`. */
export const isVisibleDay = (org: Organization, caller: Caller) =>
  hasFullAccess(org)
    ? sql`true`
    : sql`(d.origin_id = d.suite_id or exists (
        select from pipelines p where p.organization_id = ${org.id} and p.id = d.origin_id and ${visiblePipelines(org, caller)}))`

/** For queries with `tests t`: whether the caller sees any result of it. */
export const isVisibleTest = (org: Organization, caller: Caller) =>
  hasFullAccess(org)
    ? sql`true`
    : sql`exists (
        select from test_days d where d.suite_id = t.suite_id and d.test_id = t.id and ${isVisibleDay(org, caller)})`
