// Sends pipelines, stages and jobs to the CI intake of a monitoring site.
import { Type } from 'typebox'
import type { Provider } from '../provider.ts'

export const monitoringPipelineVisibility: Provider = {
  id: 'monitoring_pipeline_visibility',
  name: 'Monitoring Pipeline Visibility',
  graphqlType: null,
  madeBy: 'rest',
  isPinged: false,
  fields: {
    api_key: {
      schema: Type.String({
        minLength: 1,
        maxLength: 255,
        pattern: '^[\\x21-\\x7e]+$',
        description: 'must be printable characters without spaces',
      }),
      isRequired: true,
      isSecret: true,
      shown: 'masked',
    },
    monitoring_site: {
      schema: Type.String({
        maxLength: 255,
        pattern: '^[A-Za-z0-9.-]+(:\\d{1,5})?$|^https?://\\S+$',
        description: 'must be the name of a site, such as datadoghq.eu, or the URL of its intake',
        examples: ['datadoghq.com'],
      }),
      shown: 'full',
    },
    monitoring_tags: {
      schema: Type.String({
        maxLength: 10_000,
        pattern: '^([^:\\n]+:[^\\n]*(\\n|$))*$',
        description: 'must be tags, one key:value per line',
        examples: ['team:platform\nenv:ci'],
      }),
      shown: 'full',
    },
  },
}
