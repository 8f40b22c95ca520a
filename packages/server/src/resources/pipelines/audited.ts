import { changedAttributes } from '../../audit/record.ts'
import { withoutUserinfo } from '../../lib/userinfo.ts'
import { fieldNames, type PipelineFields } from './queries.ts'

const unsaid = ['configuration', 'env', 'provider_id'] as const
const attributes = fieldNames.filter((name) => !unsaid.some((other) => other === name))

/** What an audit event says of a new pipeline. Steps and variables are long and may hold secrets: they stay out. */
export const auditedAttributes = (pipeline: PipelineFields): Record<string, unknown> =>
  Object.fromEntries(attributes.map((key) => [key, safe(pipeline)[key]]))

export function auditedChanges(before: PipelineFields, after: PipelineFields): Record<string, unknown> {
  return {
    ...changedAttributes(safe(before), safe(after), attributes),
    ...(before.configuration === after.configuration ? {} : { configuration_changed: true }),
    ...(JSON.stringify(before.env) === JSON.stringify(after.env) ? {} : { env_changed: true }),
  }
}

/** The address of a repository may carry a password, where an earlier version has kept it. */
const safe = (pipeline: PipelineFields): PipelineFields => ({
  ...pipeline,
  repository: withoutUserinfo(pipeline.repository),
})
