import { Type } from 'typebox'
import { created, noContent, ok } from '../../../http/answer.ts'
import { pageAnswer, readPage } from '../../../http/paging.ts'
import { route } from '../../../http/route.ts'
import { createTemplate } from './create.ts'
import { deleteTemplate } from './delete.ts'
import { presentTemplate } from './present.ts'
import * as templates from './queries.ts'
import { CreatePipelineTemplate, PipelineTemplate, UpdatePipelineTemplate } from './schema.ts'
import { updateTemplate } from './update.ts'

/** A configuration of 1 MiB may be longer as a JSON string. */
const bodyLimitBytes = 4 * 1024 * 1024

const listTemplatesRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/pipeline-templates',
  summary: 'List pipeline templates, oldest first; members see those they may use',
  scope: 'read_pipeline_templates',
  permission: 'member',
  paging: 'pages',
  answers: { 200: Type.Array(PipelineTemplate) },
  async handler({ ctx, org, url }) {
    const page = readPage(url)
    const rows = await templates.listVisible(ctx.db, org, page)
    return pageAnswer(page, rows, (row) => presentTemplate(ctx.config.url, org.slug, row))
  },
})

const getTemplateRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/pipeline-templates/:template',
  summary: 'Get a pipeline template',
  scope: 'read_pipeline_templates',
  permission: 'member',
  answers: { 200: PipelineTemplate },
  async handler({ ctx, org, params }) {
    const template = await templates.getVisible(ctx.db, org, params.template)
    return ok(presentTemplate(ctx.config.url, org.slug, template))
  },
})

const createTemplateRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/pipeline-templates',
  summary: 'Create a pipeline template',
  scope: 'write_pipeline_templates',
  permission: 'admin',
  body: CreatePipelineTemplate,
  bodyLimitBytes,
  answers: { 201: PipelineTemplate },
  errors: { 422: 'The body is not valid, the configuration cannot be read, or the name is taken.' },
  async handler({ ctx, org, caller, body }) {
    const template = await createTemplate({ ctx, org, caller }, body)
    return created(presentTemplate(ctx.config.url, org.slug, template))
  },
})

const updateTemplateRoute = route({
  method: ['PUT', 'PATCH'],
  url: '/v2/organizations/:org/pipeline-templates/:template',
  summary: 'Update a pipeline template; pipelines that have it follow',
  scope: 'write_pipeline_templates',
  permission: 'admin',
  body: UpdatePipelineTemplate,
  bodyLimitBytes,
  answers: { 200: PipelineTemplate },
  errors: { 422: 'The body is not valid, the configuration cannot be read, or the name is taken.' },
  async handler({ ctx, org, caller, params, body }) {
    const template = await updateTemplate({ ctx, org, caller }, params.template, body)
    return ok(presentTemplate(ctx.config.url, org.slug, template))
  },
})

const deleteTemplateRoute = route({
  method: 'DELETE',
  url: '/v2/organizations/:org/pipeline-templates/:template',
  summary: 'Delete a pipeline template that no pipeline has',
  scope: 'write_pipeline_templates',
  permission: 'admin',
  answers: { 204: null },
  errors: { 422: 'Pipelines have the template.' },
  async handler({ ctx, org, caller, params }) {
    await deleteTemplate({ ctx, org, caller }, params.template)
    return noContent()
  },
})

export const pipelineTemplateRoutes = [
  listTemplatesRoute,
  getTemplateRoute,
  createTemplateRoute,
  updateTemplateRoute,
  deleteTemplateRoute,
]
