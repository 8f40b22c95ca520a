import { Type } from 'typebox'
import { boolean, integer, orNull, text, Uuid } from '../../schema.ts'

const NumberOrNull = (description: string) => orNull(Type.Number({ description }))

export const PipelineTrend = Type.Object(
  {
    pipeline_id: Uuid,
    pipeline_slug: text('Slug of the pipeline.'),
    builds: Type.Array(
      Type.Object({
        number: integer('Number of the build within its pipeline.'),
        state: text('State of the build.'),
        blocked: boolean('Whether it waits for somebody to unblock it.'),
        seconds: NumberOrNull('From start to end; null before the end, or when it never started.'),
        created_at: integer('Unix milliseconds.'),
        message: orNull(text('At most 200 characters.')),
        branch: Type.String(),
      }),
      { description: 'The last 30, oldest first.' },
    ),
    median_seconds: NumberOrNull(
      'Median of the builds of the last 30 days that passed, at most the newest 250; null without any.',
    ),
    median_change: NumberOrNull(
      'Change of the median against the 30 days before, as a fraction: -0.08 is 8 % faster. null without builds there.',
    ),
    reliability: NumberOrNull(
      'Share of passed builds among those of the last 30 days that passed or failed, 0 to 1; null without any.',
    ),
    running: integer('How many builds are running.'),
    pipeline: Type.Optional(
      Type.Object(
        {
          name: text('Name of the pipeline.'),
          emoji: orNull(text('Emoji of the pipeline, such as `:rocket:`.')),
          color: orNull(text('Colour of the pipeline, such as `#a1b2c3`.')),
          tags: Type.Array(Type.String(), { description: 'Free words to find the pipeline by.' }),
          favorite: boolean('Whether the caller has marked it as a favorite.'),
        },
        { description: 'Only with `include_pipeline=true`.' },
      ),
    ),
  },
  { title: 'PipelineTrend' },
)
