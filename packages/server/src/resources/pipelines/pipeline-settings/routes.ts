import { ok } from '../../../http/answer.ts'
import { route } from '../../../http/route.ts'
import { presentPipelineSettings } from './present.ts'
import * as pipelineSettings from './queries.ts'
import { EnableBuildExport, PipelineSettings, UpdatePipelineSettings } from './schema.ts'
import { disable, disableBuildExport, enable, enableBuildExport, updatePipelineSettings } from './update.ts'

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
    const settings = await updatePipelineSettings({ ctx, org, caller }, body)
    return ok(presentPipelineSettings(ctx.config.url, org.slug, settings))
  },
})

const setting = {
  scope: 'write_organization_settings',
  permission: 'admin',
  answers: { 200: PipelineSettings },
} as const

const enableHostedAgentsSshRoute = route({
  ...setting,
  method: 'PUT',
  url: '/v2/organizations/:org/pipeline-settings/hosted-agents-ssh',
  summary: 'Let people open terminals on hosted agents',
  async handler({ ctx, org, caller }) {
    const settings = await enable({ ctx, org, caller }, 'hosted_agents_ssh')
    return ok(presentPipelineSettings(ctx.config.url, org.slug, settings))
  },
})

const disableHostedAgentsSshRoute = route({
  ...setting,
  method: 'DELETE',
  url: '/v2/organizations/:org/pipeline-settings/hosted-agents-ssh',
  summary: 'Stop letting people open terminals on hosted agents',
  async handler({ ctx, org, caller }) {
    const settings = await disable({ ctx, org, caller }, 'hosted_agents_ssh')
    return ok(presentPipelineSettings(ctx.config.url, org.slug, settings))
  },
})

const enablePublicPipelinesRoute = route({
  ...setting,
  method: 'PUT',
  url: '/v2/organizations/:org/pipeline-settings/public-pipelines',
  summary: 'Let pipelines be made public',
  async handler({ ctx, org, caller }) {
    const settings = await enable({ ctx, org, caller }, 'public_pipelines')
    return ok(presentPipelineSettings(ctx.config.url, org.slug, settings))
  },
})

const disablePublicPipelinesRoute = route({
  ...setting,
  method: 'DELETE',
  url: '/v2/organizations/:org/pipeline-settings/public-pipelines',
  summary: 'Stop letting pipelines be made public; those that are stay so',
  async handler({ ctx, org, caller }) {
    const settings = await disable({ ctx, org, caller }, 'public_pipelines')
    return ok(presentPipelineSettings(ctx.config.url, org.slug, settings))
  },
})

const enableAdvancedQueueMetricsRoute = route({
  ...setting,
  method: 'PUT',
  url: '/v2/organizations/:org/pipeline-settings/advanced-queue-metrics',
  summary: 'Turn on detailed metrics of queues, for good',
  async handler({ ctx, org, caller }) {
    const settings = await enable({ ctx, org, caller }, 'advanced_queue_metrics')
    return ok(presentPipelineSettings(ctx.config.url, org.slug, settings))
  },
})

const enableBuildExportRoute = route({
  ...setting,
  method: 'PUT',
  url: '/v2/organizations/:org/pipeline-settings/build-export',
  summary: 'Say where finished builds are exported to',
  body: EnableBuildExport,
  async handler({ ctx, org, caller, body }) {
    const settings = await enableBuildExport({ ctx, org, caller }, body)
    return ok(presentPipelineSettings(ctx.config.url, org.slug, settings))
  },
})

const disableBuildExportRoute = route({
  ...setting,
  method: 'DELETE',
  url: '/v2/organizations/:org/pipeline-settings/build-export',
  summary: 'Stop exporting builds',
  async handler({ ctx, org, caller }) {
    const settings = await disableBuildExport({ ctx, org, caller })
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
