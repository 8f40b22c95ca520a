import type { Static } from 'typebox'
import type { SettingsRow } from './queries.ts'
import type { PipelineSettings } from './schema.ts'

export const usualCurrency = 'USD'

export function presentPipelineSettings(
  url: string,
  orgSlug: string,
  settings: SettingsRow,
): Static<typeof PipelineSettings> {
  return {
    url: `${url}/v2/organizations/${orgSlug}/pipeline-settings`,
    default_branch: settings.default_branch,
    default_cluster_id: settings.default_cluster_id,
    default_timeout_in_minutes: settings.default_timeout_in_minutes,
    maximum_timeout_in_minutes: settings.maximum_timeout_in_minutes,
    scheduled_job_expiry_in_minutes: settings.scheduled_job_expiry_in_minutes,
    currency: settings.currency ?? usualCurrency,
    hosted_agents_terminal_access: enablement(
      settings.hosted_agents_ssh_enabled_at,
      settings.hosted_agents_ssh_enabled_by,
    ),
    public_pipeline_creation: enablement(
      settings.public_pipelines_enabled_at,
      settings.public_pipelines_enabled_by,
    ),
    advanced_queue_metrics: {
      ...enablement(settings.advanced_queue_metrics_enabled_at, settings.advanced_queue_metrics_enabled_by),
      disable_supported: false,
    },
    build_exports: {
      available: true,
      enabled: settings.build_export_strategy_id !== null,
      location: settings.build_export_location,
      strategy_id: settings.build_export_strategy_id,
      supported_strategies: ['s3', 'gcs'],
    },
  }
}

const enablement = (at: string | null, by: { id: string; name: string } | null) => ({
  enabled: at !== null,
  enabled_at: at,
  enabled_by: by,
})
