import type { Static } from 'typebox'
import type { Config } from '../../../config/config.ts'
import { pipelineUrl } from '../../pipelines/pipelines/present.ts'
import type { Preview, Previewed, WholePreview } from './preview.ts'
import { effectiveSettings, type OwnSettings } from './rules.ts'
import type { Retention, RetentionPreview } from './schema.ts'

/** `own` from the nearest to the farthest. `at` is the address of what they belong to. */
export function presentRetention(
  config: Config,
  at: string,
  own: readonly [OwnSettings, ...OwnSettings[]],
): Static<typeof Retention> {
  return {
    url: `${at}/retention`,
    preview_url: `${at}/retention/preview`,
    ...own[0],
    effective: effectiveSettings(own, config.retention),
    installation: {
      agent_days: config.agentDays,
      delivery_days: 7,
      dead_letter_days: 30,
      webhook_delivery_days: 30,
      event_days: config.eventDays,
      audit_event_days: config.auditDays,
    },
  }
}

export const presentPreview = (
  url: string,
  orgSlug: string,
  now: string,
  preview: WholePreview,
): Static<typeof RetentionPreview> => ({
  now,
  ...presentParts(preview),
  test_runs: presentPart(preview.test_runs),
  pipelines: preview.pipelines.map((own) => ({
    id: own.pipeline.id,
    slug: own.pipeline.slug,
    retention_url: `${pipelineUrl(url, orgSlug, own.pipeline.slug)}/retention`,
    ...presentParts(own),
  })),
})

const presentParts = (preview: Preview) => ({
  builds: { ...presentPart(preview.builds), archived_count: preview.builds.archived },
  logs: presentPart(preview.logs),
  artifacts: presentPart(preview.artifacts),
  archived_builds: presentPart(preview.archived_builds),
})

const presentPart = ({ count, blob_bytes, database_bytes, oldest, newest }: Previewed) => ({
  count,
  blob_bytes,
  database_bytes,
  oldest,
  newest,
})
