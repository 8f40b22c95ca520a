import { Type, type Static } from 'typebox'
import { oneOf, orNull, text } from '../../schema.ts'

export const mostHits = 20
/** Of one type, so that none hides the others. */
export const mostHitsOfType = 10

export const SearchQuery = {
  q: Type.Optional(
    Type.String({
      minLength: 2,
      maxLength: 200,
      description:
        'Part of a name, the number of a build with or without `#`, or 7 to 40 digits of a commit.',
    }),
  ),
}

export const HitType = oneOf(
  ['pipeline', 'build', 'commit', 'agent', 'cluster', 'queue'],
  'What matches. A `commit` leads to a build of it.',
)
export type HitType = Static<typeof HitType>

export const SearchHit = Type.Object(
  {
    type: HitType,
    title: text('The name of what was found.'),
    subtitle: orNull(text('What tells it from others of the same title.')),
    web_url: text('Its page.'),
  },
  { title: 'SearchHit' },
)
