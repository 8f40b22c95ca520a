import type { Static } from 'typebox'
import { graphqlId } from '../../../lib/ids.ts'
import { presentUserOrNull } from '../../people/user/present.ts'
import type { TemplateRow } from './queries.ts'
import type { PipelineTemplate } from './schema.ts'

export const presentTemplate = (
  url: string,
  orgSlug: string,
  template: TemplateRow,
): Static<typeof PipelineTemplate> => ({
  uuid: template.id,
  graphql_id: graphqlId('PipelineTemplate', template.id),
  name: template.name,
  description: template.description,
  configuration: template.configuration,
  available: template.available,
  url: `${url}/v2/organizations/${orgSlug}/pipeline-templates/${template.id}`,
  web_url: `${url}/organizations/${orgSlug}/pipeline-templates/${template.id}`,
  created_at: template.created_at,
  created_by: presentUserOrNull(url, template.created_by),
  updated_at: template.updated_at,
  updated_by: presentUserOrNull(url, template.updated_by),
})
