import type { Static } from 'typebox'
import { hasScope, type Caller } from '../../../auth/caller.ts'
import type { Keyring } from '../../../auth/keyring.ts'
import { suffices } from '../../../auth/permissions.ts'
import { graphqlId } from '../../../lib/ids.ts'
import { withoutUserinfo } from '../../../lib/userinfo.ts'
import { clusterUrl } from '../../clusters/clusters/present.ts'
import { presentUserOrNull } from '../../people/user/present.ts'
import { viewSteps } from './configuration.ts'
import { showSettings } from '../../../source-hosts/settings.ts'
import type { PipelineRow } from './queries.ts'
import { webhookIdOf } from './rules.ts'
import { openWebhookToken } from './sealed.ts'
import type { GithubWebhooks, Pipeline } from './schema.ts'

export const pipelineUrl = (url: string, orgSlug: string, slug: string): string =>
  `${url}/v2/organizations/${orgSlug}/pipelines/${slug}`

/** The caller, and the keys that decrypt the pipeline's secrets. */
interface PipelineReader {
  caller: Caller
  keys: Keyring
}

/** Without a reader, the result has no secrets. */
export async function presentPipeline(
  url: string,
  orgSlug: string,
  pipeline: PipelineRow,
  reader: PipelineReader | null,
): Promise<Static<typeof Pipeline>> {
  const self = pipelineUrl(url, orgSlug, pipeline.slug)
  const mayHaveWebhookUrl =
    reader !== null && pipeline.access === 'manage' && hasScope(reader.caller, 'write_pipelines')
  return {
    id: pipeline.id,
    graphql_id: graphqlId('Pipeline', pipeline.id),
    url: self,
    web_url: `${url}/${orgSlug}/${pipeline.slug}`,
    name: pipeline.name,
    description: pipeline.description,
    slug: pipeline.slug,
    repository: withoutUserinfo(pipeline.repository),
    cluster_id: pipeline.cluster_id,
    cluster_url: pipeline.cluster_id === null ? null : clusterUrl(url, orgSlug, pipeline.cluster_id),
    pipeline_template_uuid: pipeline.pipeline_template_id,
    branch_configuration: pipeline.branch_configuration,
    clone_mirror_url: pipeline.clone_mirror_url,
    default_branch: pipeline.default_branch,
    skip_queued_branch_builds: pipeline.skip_queued_branch_builds,
    skip_queued_branch_builds_filter: pipeline.skip_queued_branch_builds_filter,
    cancel_running_branch_builds: pipeline.cancel_running_branch_builds,
    cancel_running_branch_builds_filter: pipeline.cancel_running_branch_builds_filter,
    allow_rebuilds: pipeline.allow_rebuilds,
    provider: {
      id: pipeline.provider_id,
      // Spec, Pipeline summary: an empty string for everybody else.
      webhook_url: mayHaveWebhookUrl ? `${url}/deliver/${openWebhookToken(reader.keys, pipeline)}` : '',
      webhook_id: mayHaveWebhookUrl ? webhookIdOf(pipeline) : null,
      settings: showSettings(pipeline.provider_id, pipeline.repository, pipeline.provider_settings),
    },
    builds_url: `${self}/builds`,
    badge_url: `${url}/badges/${pipeline.badge_token}.svg`,
    created_by: presentUserOrNull(url, pipeline.created_by),
    created_at: pipeline.created_at,
    archived_at: pipeline.archived_at,
    env: { ...pipeline.env },
    scheduled_builds_count: pipeline.scheduled_builds,
    running_builds_count: pipeline.running_builds,
    scheduled_jobs_count: pipeline.scheduled_jobs,
    running_jobs_count: pipeline.running_jobs,
    waiting_jobs_count: pipeline.waiting_jobs,
    visibility: pipeline.visibility,
    tags: pipeline.tags,
    emoji: pipeline.emoji,
    color: pipeline.color,
    default_command_step_timeout: pipeline.default_command_step_timeout,
    maximum_command_step_timeout: pipeline.maximum_command_step_timeout,
    poll_interval_seconds: pipeline.poll_interval_seconds,
    poll_error: pipeline.poll_error,
    junit_artifacts: pipeline.junit_artifacts,
    configuration: pipeline.configuration,
    steps: await viewSteps(pipeline.configuration, {
      organizationId: pipeline.organization_id,
      sender: pipeline.id,
    }),
  }
}

/** What the caller may do with the pipeline, as the permissions of the routes decide it. */
export const presentViewer = (
  { id, access }: PipelineRow,
  favoriteIds: readonly string[],
): Required<Pick<Static<typeof Pipeline>, 'viewer'>> => ({
  viewer: {
    may: { build: suffices('build_pipeline', access), edit: suffices('edit_pipeline', access) },
    favorite: favoriteIds.includes(id),
  },
})

export const presentGithubWebhooks = (
  url: string,
  orgSlug: string,
  pipeline: PipelineRow,
): Static<typeof GithubWebhooks> => ({
  url: `${pipelineUrl(url, orgSlug, pipeline.slug)}/github-webhooks`,
  enabled: pipeline.webhooks_disabled_at === null,
  disabled_at: pipeline.webhooks_disabled_at,
  disabled_by: pipeline.webhooks_disabled_by,
})
