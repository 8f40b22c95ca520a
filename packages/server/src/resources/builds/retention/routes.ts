import { byCaller } from '../../../audit/record.ts'
import type { Context } from '../../../context.ts'
import { ok } from '../../../http/answer.ts'
import { route } from '../../../http/route.ts'
import { pipelineUrl } from '../../pipelines/pipelines/present.ts'
import { preview, previewOrganization } from './preview.ts'
import { presentPreview, presentRetention } from './present.ts'
import * as retention from './queries.ts'
import { readSettings, type OwnSettings } from './rules.ts'
import { PreviewQuery, Retention, RetentionPreview, UpdateRetention } from './schema.ts'
import type { Terms } from './selection.ts'
import { updateOrganizationRetention, updatePipelineRetention } from './update.ts'

const organizationUrl = (ctx: Context, org: { slug: string }) =>
  `${ctx.config.url}/v2/organizations/${org.slug}`

const termsOf = (ctx: Context, level: 'organization' | 'pipeline', tried: Partial<OwnSettings>): Terms => ({
  now: ctx.now().toISOString(),
  defaults: ctx.config.retention,
  trial: { level, settings: readSettings(tried) },
})

const getOrganizationRetentionRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/retention',
  summary: 'Get how long an organization keeps builds, logs and artifacts',
  scope: 'read_organization_settings',
  permission: 'admin',
  answers: { 200: Retention },
  async handler({ ctx, org }) {
    const own = await retention.getOfOrg(ctx.db, org.id)
    return ok(presentRetention(ctx.config, organizationUrl(ctx, org), [own]))
  },
})

const updateOrganizationRetentionRoute = route({
  method: ['PUT', 'PATCH'],
  url: '/v2/organizations/:org/retention',
  summary: 'Set how long an organization keeps builds, logs and artifacts; null: as the installation does',
  scope: 'write_organization_settings',
  permission: 'admin',
  body: UpdateRetention,
  answers: { 200: Retention },
  async handler({ ctx, org, caller, body }) {
    const own = await updateOrganizationRetention(ctx.db, byCaller(caller), org, body)
    return ok(presentRetention(ctx.config, organizationUrl(ctx, org), [own]))
  },
})

const previewOrganizationRetentionRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/retention/preview',
  summary: 'Count what retention would delete now in all pipelines of an organization',
  scope: 'read_organization_settings',
  permission: 'admin',
  query: PreviewQuery,
  answers: { 200: RetentionPreview },
  async handler({ ctx, org, query }) {
    const terms = termsOf(ctx, 'organization', query)
    const counted = await previewOrganization(ctx.db, org.id, terms)
    return ok(presentPreview(ctx.config.url, org.slug, terms.now, counted))
  },
})

const getPipelineRetentionRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/pipelines/:pipeline/retention',
  summary: 'Get how long a pipeline keeps builds, logs and artifacts',
  scope: 'read_pipelines',
  permission: 'read_pipeline',
  answers: { 200: Retention },
  async handler({ ctx, org, pipelineId, params }) {
    const own = await retention.getOfPipeline(ctx.db, org.id, pipelineId)
    const ofOrg = await retention.getOfOrg(ctx.db, org.id)
    const at = pipelineUrl(ctx.config.url, org.slug, params.pipeline)
    return ok(presentRetention(ctx.config, at, [own, ofOrg]))
  },
})

const updatePipelineRetentionRoute = route({
  method: ['PUT', 'PATCH'],
  url: '/v2/organizations/:org/pipelines/:pipeline/retention',
  summary: 'Set how long a pipeline keeps builds, logs and artifacts; null: as its organization does',
  scope: 'write_pipelines',
  permission: 'edit_pipeline',
  body: UpdateRetention,
  answers: { 200: Retention },
  async handler({ ctx, org, caller, pipelineId, params, body }) {
    const pipeline = { id: pipelineId, slug: params.pipeline }
    const own = await updatePipelineRetention(ctx.db, byCaller(caller), org.id, pipeline, body)
    const ofOrg = await retention.getOfOrg(ctx.db, org.id)
    const at = pipelineUrl(ctx.config.url, org.slug, params.pipeline)
    return ok(presentRetention(ctx.config, at, [own, ofOrg]))
  },
})

const previewPipelineRetentionRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/pipelines/:pipeline/retention/preview',
  summary: 'Count what retention would delete now in a pipeline',
  scope: 'read_pipelines',
  permission: 'edit_pipeline',
  query: PreviewQuery,
  answers: { 200: RetentionPreview },
  async handler({ ctx, org, pipelineId, params, query }) {
    const terms = termsOf(ctx, 'pipeline', query)
    const counted = await preview(ctx.db, org.id, [{ id: pipelineId, slug: params.pipeline }], terms)
    return ok(presentPreview(ctx.config.url, org.slug, terms.now, counted))
  },
})

export const retentionRoutes = [
  getOrganizationRetentionRoute,
  updateOrganizationRetentionRoute,
  previewOrganizationRetentionRoute,
  getPipelineRetentionRoute,
  updatePipelineRetentionRoute,
  previewPipelineRetentionRoute,
]
