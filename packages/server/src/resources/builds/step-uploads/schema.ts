import { Type } from 'typebox'
import { orNull, Timestamp, Uuid } from '../../schema.ts'

const TextOrNull = orNull(Type.String())

const fields = {
  uuid: Uuid,
  graphql_id: Type.String(),
  state: Type.Union(
    ['pending', 'processing', 'applied', 'rejected', 'failed'].map((state) => Type.Literal(state)),
  ),
  source: Type.String({ description: 'What uploaded them: `job`.' }),
  source_job_id: Uuid,
  replace_existing_steps: Type.Boolean(),
  created_jobs_count: Type.Integer(),
  rejection_type: orNull(Type.String({ description: 'Why it was rejected, for programs.' })),
  message: orNull(Type.String({ description: 'Why it was rejected, for people.' })),
  url: Type.String(),
  created_at: Timestamp,
  processed_at: orNull(Timestamp),
}

const ListedStepUpload = Type.Object(fields, { title: 'ListedStepUpload' })

export const StepUpload = Type.Object(
  {
    ...fields,
    definition_bytes: Type.Integer(),
    definition_yaml: TextOrNull,
    definition_yaml_omitted: Type.Boolean({ description: 'The text was too large or too odd to be kept.' }),
  },
  { title: 'StepUpload' },
)

const Link = Type.String()

export const StepUploadList = Type.Object(
  {
    items: Type.Array(ListedStepUpload),
    links: Type.Object({
      self: Link,
      first: Type.Optional(Link),
      prev: Type.Optional(Link),
      next: Type.Optional(Link),
    }),
  },
  { title: 'StepUploadList' },
)
