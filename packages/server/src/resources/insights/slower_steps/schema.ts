import { Type } from 'typebox'
import { count, orNull, text, Uuid } from '../../schema.ts'

const Seconds = (description: string) => Type.Number({ description })

export const SlowerStep = Type.Object(
  {
    id: Uuid,
    name: text('Key of the step, or else its label or its command.'),
    pipeline: orNull(
      Type.Object({ id: Uuid, slug: Type.String(), name: Type.String() }),
      'Pipeline of the step; null when it is deleted.',
    ),
    jobs: count('Jobs of the last 7 days.'),
    run_p50_seconds: Seconds('Median time of the last 7 days.'),
    usual_seconds: Seconds('Median of the medians of each of the 28 days before.'),
    spread_seconds: Seconds('How far these medians usually are from that: three times the median distance.'),
    change: Seconds('How much longer it takes than usual, as a fraction: 0.5 is half as long again.'),
  },
  { title: 'SlowerStep' },
)
