import { Type } from 'typebox'
import {
  boolean,
  cursorList,
  integer,
  oneOf,
  orNull,
  text,
  Timestamp,
  timestamp,
  Uuid,
  uuid,
} from '../../schema.ts'

const fields = {
  uuid: Uuid,
  graphql_id: Type.String(),
  state: oneOf(
    ['pending', 'processing', 'applied', 'rejected', 'failed'],
    'Whether the upload waits, was applied, or was refused.',
  ),
  source: text('What uploaded them: `job`.'),
  source_job_id: uuid('UUID of the job that uploaded the steps.'),
  replace_existing_steps: boolean('Whether the upload replaced the steps that had not started.'),
  created_jobs_count: integer('How many jobs the upload made.'),
  rejection_type: orNull(text('Why it was rejected, for programs.')),
  message: orNull(text('Why it was rejected, for people.')),
  url: Type.String(),
  created_at: Timestamp,
  processed_at: orNull(timestamp('When the upload was applied or refused; null before that.')),
}

const ListedStepUpload = Type.Object(fields, { title: 'ListedStepUpload' })

export const StepUpload = Type.Object(
  {
    ...fields,
    definition_bytes: integer('Size of the uploaded text in bytes.'),
    definition_yaml: orNull(text('The uploaded text; null when it was not kept.')),
    definition_yaml_omitted: boolean('The text was too large or too odd to be kept.'),
  },
  { title: 'StepUpload' },
)

export const StepUploadList = cursorList(ListedStepUpload, 'StepUploadList')
