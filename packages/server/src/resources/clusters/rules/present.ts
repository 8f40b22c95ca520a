import type { Static } from 'typebox'
import { graphqlId } from '../../../lib/ids.ts'
import { presentUserOrNull } from '../../people/user/present.ts'
import { writeDocument } from './document.ts'
import type { RuleRow } from './queries.ts'
import type { Rule } from './schema.ts'

export const presentRule = (url: string, orgSlug: string, rule: RuleRow): Static<typeof Rule> => ({
  uuid: rule.id,
  graphql_id: graphqlId('Rule', rule.id),
  organization_uuid: rule.organization_id,
  url: `${url}/v2/organizations/${orgSlug}/rules/${rule.id}`,
  description: rule.description,
  document: rule.document ?? documentOf(rule),
  type: rule.type,
  source_type: 'pipeline',
  source_uuid: rule.source_pipeline_id,
  target_type: 'pipeline',
  target_uuid: rule.target_pipeline_id,
  source: rule.source,
  target: rule.target,
  effect: 'allow',
  action: rule.type === 'pipeline.trigger_build.pipeline' ? 'trigger_build' : 'artifacts_read',
  conditions: rule.conditions,
  created_at: rule.created_at,
  created_by: presentUserOrNull(url, rule.created_by),
})

/** Of rules that were created before documents were stored. */
const documentOf = ({ type, source_pipeline_id, target_pipeline_id, conditions }: RuleRow): string =>
  writeDocument(type, {
    source_pipeline: source_pipeline_id,
    target_pipeline: target_pipeline_id,
    ...(conditions.length > 0 ? { conditions } : {}),
  })
