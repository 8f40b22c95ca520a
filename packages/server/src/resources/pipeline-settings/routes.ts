import { ok } from '../../http/answer.ts'
import { route } from '../../http/route.ts'
import { setBuildExport, switchOff, switchOn, updateSettings } from './update.ts'
import { presentPipelineSettings } from './present.ts'
import * as pipelineSettings from './queries.ts'
import { EnableBuildExport, PipelineSettings, UpdatePipelineSettings } from './schema.ts'

const getPipelineSettingsRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/pipeline-settings',
  summary: "Get the organization's pipeline settings",
  scope: 'read_organization_settings',
  permission: 'admin',
  answers: { 200: PipelineSettings },
  async handler({ ctx, org }) {
    const settings = await pipelineSettings.getOfOrg(ctx.db, org.id)
    return ok(presentPipelineSettings(ctx.config.url, org.slug, settings))
  },
})

const updatePipelineSettingsRoute = route({
  method: ['PUT', 'PATCH'],
  url: '/v2/organizations/:org/pipeline-settings',
  summary: "Change the organization's pipeline settings; what is not given stays",
  scope: 'write_organization_settings',
  permission: 'admin',
  body: UpdatePipelineSettings,
  answers: { 200: PipelineSettings },
  errors: { 422: 'The body is not valid, or the default timeout exceeds the maximum.' },
  async handler({ ctx, org, caller, body }) {
    const settings = await updateSettings(ctx, org, caller, body)
    return ok(presentPipelineSettings(ctx.config.url, org.slug, settings))
  },
})

const enableHostedAgentsSshRoute = route({
  method: 'PUT',
  url: '/v2/organizations/:org/pipeline-settings/hosted-agents-ssh',
  summary: 'Let people open terminals on hosted agents',
  scope: 'write_organization_settings',
  permission: 'admin',
  answers: { 200: PipelineSettings },
  async handler({ ctx, org, caller }) {
    const settings = await switchOn(ctx, org, caller, 'hosted_agents_ssh')
    return ok(presentPipelineSettings(ctx.config.url, org.slug, settings))
  },
})

const disableHostedAgentsSshRoute = route({
  method: 'DELETE',
  url: '/v2/organizations/:org/pipeline-settings/hosted-agents-ssh',
  summary: 'Stop letting people open terminals on hosted agents',
  scope: 'write_organization_settings',
  permission: 'admin',
  answers: { 200: PipelineSettings },
  async handler({ ctx, org, caller }) {
    const settings = await switchOff(ctx, org, caller, 'hosted_agents_ssh')
    return ok(presentPipelineSettings(ctx.config.url, org.slug, settings))
  },
})

const enablePublicPipelinesRoute = route({
  method: 'PUT',
  url: '/v2/organizations/:org/pipeline-settings/public-pipelines',
  summary: 'Let pipelines be made public',
  scope: 'write_organization_settings',
  permission: 'admin',
  answers: { 200: PipelineSettings },
  async handler({ ctx, org, caller }) {
    const settings = await switchOn(ctx, org, caller, 'public_pipelines')
    return ok(presentPipelineSettings(ctx.config.url, org.slug, settings))
  },
})

const disablePublicPipelinesRoute = route({
  method: 'DELETE',
  url: '/v2/organizations/:org/pipeline-settings/public-pipelines',
  summary: 'Stop letting pipelines be made public; those that are stay so',
  scope: 'write_organization_settings',
  permission: 'admin',
  answers: { 200: PipelineSettings },
  async handler({ ctx, org, caller }) {
    const settings = await switchOff(ctx, org, caller, 'public_pipelines')
    return ok(presentPipelineSettings(ctx.config.url, org.slug, settings))
  },
})

const enableAdvancedQueueMetricsRoute = route({
  method: 'PUT',
  url: '/v2/organizations/:org/pipeline-settings/advanced-queue-metrics',
  summary: 'Turn on detailed metrics of queues, for good',
  scope: 'write_organization_settings',
  permission: 'admin',
  answers: { 200: PipelineSettings },
  async handler({ ctx, org, caller }) {
    const settings = await switchOn(ctx, org, caller, 'advanced_queue_metrics')
    return ok(presentPipelineSettings(ctx.config.url, org.slug, settings))
  },
})

const enableBuildExportRoute = route({
  method: 'PUT',
  url: '/v2/organizations/:org/pipeline-settings/build-export',
  summary: 'Say where finished builds are exported to',
  scope: 'write_organization_settings',
  permission: 'admin',
  body: EnableBuildExport,
  answers: { 200: PipelineSettings },
  async handler({ ctx, org, caller, body }) {
    const { location, strategy_id } = body
    const settings = await setBuildExport(ctx, org, caller, { location, strategy_id })
    return ok(presentPipelineSettings(ctx.config.url, org.slug, settings))
  },
})

const disableBuildExportRoute = route({
  method: 'DELETE',
  url: '/v2/organizations/:org/pipeline-settings/build-export',
  summary: 'Stop exporting builds',
  scope: 'write_organization_settings',
  permission: 'admin',
  answers: { 200: PipelineSettings },
  async handler({ ctx, org, caller }) {
    const settings = await setBuildExport(ctx, org, caller, null)
    return ok(presentPipelineSettings(ctx.config.url, org.slug, settings))
  },
})

export const pipelineSettingsRoutes = [
  getPipelineSettingsRoute,
  updatePipelineSettingsRoute,
  enableHostedAgentsSshRoute,
  disableHostedAgentsSshRoute,
  enablePublicPipelinesRoute,
  disablePublicPipelinesRoute,
  enableAdvancedQueueMetricsRoute,
  enableBuildExportRoute,
  disableBuildExportRoute,
]
