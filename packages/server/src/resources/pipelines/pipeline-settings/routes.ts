import type { RequestContext } from '../../../context.ts'
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

/** A setting that is switched on and off, without a body. */
const toSwitch = (change: (request: RequestContext) => Promise<pipelineSettings.SettingsRow>) => ({
  ...setting,
  async handler({ ctx, org, caller }: RequestContext) {
    const settings = await change({ ctx, org, caller })
    return ok(presentPipelineSettings(ctx.config.url, org.slug, settings))
  },
})

const enableHostedAgentsSshRoute = route({
  ...toSwitch((request) => enable(request, 'hosted_agents_ssh')),
  method: 'PUT',
  url: '/v2/organizations/:org/pipeline-settings/hosted-agents-ssh',
  summary: 'Let people open terminals on hosted agents',
})

const disableHostedAgentsSshRoute = route({
  ...toSwitch((request) => disable(request, 'hosted_agents_ssh')),
  method: 'DELETE',
  url: '/v2/organizations/:org/pipeline-settings/hosted-agents-ssh',
  summary: 'Stop letting people open terminals on hosted agents',
})

const enablePublicPipelinesRoute = route({
  ...toSwitch((request) => enable(request, 'public_pipelines')),
  method: 'PUT',
  url: '/v2/organizations/:org/pipeline-settings/public-pipelines',
  summary: 'Let pipelines be made public',
})

const disablePublicPipelinesRoute = route({
  ...toSwitch((request) => disable(request, 'public_pipelines')),
  method: 'DELETE',
  url: '/v2/organizations/:org/pipeline-settings/public-pipelines',
  summary: 'Stop letting pipelines be made public; those that are stay so',
})

const enableAdvancedQueueMetricsRoute = route({
  ...toSwitch((request) => enable(request, 'advanced_queue_metrics')),
  method: 'PUT',
  url: '/v2/organizations/:org/pipeline-settings/advanced-queue-metrics',
  summary: 'Turn on detailed metrics of queues, for good',
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
  ...toSwitch(disableBuildExport),
  method: 'DELETE',
  url: '/v2/organizations/:org/pipeline-settings/build-export',
  summary: 'Stop exporting builds',
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
