import type { Static } from 'typebox'
import { graphqlId } from '../../../lib/ids.ts'
import { pipelineUrl } from '../pipelines/present.ts'
import { presentUserOrNull } from '../../people/user/present.ts'
import type { ScheduleRow } from './queries.ts'
import type { Schedule } from './schema.ts'

export function presentSchedule(
  url: string,
  orgSlug: string,
  schedule: ScheduleRow,
): Static<typeof Schedule> {
  const pipeline = pipelineUrl(url, orgSlug, schedule.pipeline_slug)
  return {
    id: schedule.id,
    graphql_id: graphqlId('PipelineSchedule', schedule.id),
    url: `${pipeline}/schedules/${schedule.id}`,
    label: schedule.label,
    cronline: schedule.cronline,
    message: schedule.message,
    commit: schedule.commit,
    branch: schedule.branch ?? schedule.pipeline_default_branch,
    env: { ...schedule.env },
    enabled: schedule.enabled,
    next_build_at: schedule.next_build_at,
    failed_message: schedule.failed_message,
    failed_at: schedule.failed_at,
    created_at: schedule.created_at,
    created_by: presentUserOrNull(url, schedule.created_by),
    pipeline: { id: schedule.pipeline_id, slug: schedule.pipeline_slug, url: pipeline },
  }
}
