import { Type, type Static } from 'typebox'
import { orNull, Timestamp, Uuid } from '../../schema.ts'

const Style = Type.Union([
  Type.Literal('success'),
  Type.Literal('info'),
  Type.Literal('warning'),
  Type.Literal('error'),
])

export type Style = Static<typeof Style>

const AnnotationScope = Type.Union([Type.Literal('build'), Type.Literal('job')])

const Priority = Type.Integer({
  minimum: 1,
  maximum: 10,
  description: 'From 1 to 10; higher ones come first.',
})

export const Annotation = Type.Object(
  {
    id: Uuid,
    context: Type.String({ description: 'What tells it from the other annotations of the build or job.' }),
    style: orNull(Style),
    scope: AnnotationScope,
    job_id: orNull(Uuid),
    priority: Priority,
    body_html: Type.Optional(
      Type.String({ description: 'The body rendered, and freed of all that could act.' }),
    ),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Annotation' },
)

export const mostBodyBytes = 1024 * 1024

export const CreateAnnotation = Type.Object(
  {
    body: Type.String({ minLength: 1, description: 'Markdown, or HTML; at most 1 MiB.' }),
    style: Type.Optional(orNull(Style)),
    priority: Type.Optional(Priority),
    context: Type.Optional(Type.String({ maxLength: 100, description: 'Default: `default`.' })),
    append: Type.Optional(
      Type.Boolean({ description: 'Add to the annotation of the same context instead of replacing it.' }),
    ),
  },
  {
    title: 'CreateAnnotation',
    examples: [{ body: 'All **412** tests passed.', style: 'success', context: 'tests' }],
  },
)

export type CreateAnnotationBody = Static<typeof CreateAnnotation>
