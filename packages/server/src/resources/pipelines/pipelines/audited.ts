import { changedAttributes } from '../../../audit/record.ts'
import { withoutUserinfo } from '../../../lib/userinfo.ts'
import { fieldNames, type PipelineFields } from './queries.ts'

const unaudited = ['configuration', 'env', 'provider_id'] as const
const attributes = fieldNames.filter((name) => !unaudited.some((other) => other === name))

/** Audit events leave out steps and variables, which are long and may contain secrets. */
export const auditedAttributes = (pipeline: PipelineFields): Record<string, unknown> =>
  Object.fromEntries(attributes.map((key) => [key, safe(pipeline)[key]]))

export function auditedChanges(before: PipelineFields, after: PipelineFields): Record<string, unknown> {
  return {
    ...changedAttributes(safe(before), safe(after), attributes),
    ...(before.configuration === after.configuration ? {} : { configuration_changed: true }),
    ...(JSON.stringify(before.env) === JSON.stringify(after.env) ? {} : { env_changed: true }),
  }
}

/** Earlier versions stored passwords in repository URLs. */
const safe = (pipeline: PipelineFields): PipelineFields => ({
  ...pipeline,
  repository: withoutUserinfo(pipeline.repository),
})
