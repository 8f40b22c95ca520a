import { Type, type Static } from 'typebox'
import { boolean, oneOf, optional, orNull, text, Timestamp, Uuid, uuid } from '../../schema.ts'

const Style = oneOf(['success', 'info', 'warning', 'error'], 'How the annotation is shown; null: plainly.')

export type Style = Static<typeof Style>

const AnnotationScope = oneOf(['build', 'job'])

const Priority = Type.Integer({
  minimum: 1,
  maximum: 10,
  description: 'From 1 to 10; higher ones come first.',
})

export const Annotation = Type.Object(
  {
    id: Uuid,
    context: text('What tells it from the other annotations of the build or job.'),
    style: orNull(Style),
    scope: Type.Union(AnnotationScope.anyOf, {
      description: 'Whether it belongs to the whole build or to one job.',
    }),
    job_id: orNull(uuid('UUID of the job that it belongs to; null for those of a build.')),
    priority: Priority,
    body_html: Type.Optional(text('The body rendered, and freed of all that could act.')),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Annotation' },
)

export const mostBodyBytes = 1024 * 1024

export const CreateAnnotation = Type.Object(
  {
    body: Type.String({ minLength: 1, description: 'Markdown, or HTML; at most 1 MiB.' }),
    style: optional(Style),
    priority: Type.Optional(Priority),
    context: Type.Optional(Type.String({ maxLength: 100, description: 'Default: `default`.' })),
    append: Type.Optional(boolean('Add to the annotation of the same context instead of replacing it.')),
  },
  {
    title: 'CreateAnnotation',
    examples: [{ body: 'All **412** tests passed.', style: 'success', context: 'tests' }],
  },
)

export type CreateAnnotationBody = Static<typeof CreateAnnotation>
