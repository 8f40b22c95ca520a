import { Type, type Static } from 'typebox'
import { text, Timestamp, timestamp, Uuid } from '../../schema.ts'
import { UserOrNull } from '../user/schema.ts'

export const Banner = Type.Object(
  {
    id: Uuid,
    graphql_id: Type.String(),
    url: Type.String(),
    message: text('What all pages of the organization show.'),
    created_at: Timestamp,
    updated_at: timestamp('When the message was last changed.'),
    created_by: UserOrNull,
  },
  { title: 'Banner' },
)

export const SetBanner = Type.Object(
  {
    message: Type.String({
      minLength: 1,
      maxLength: 1000,
      pattern: '\\S',
      description: 'What all pages of the organization show.',
    }),
  },
  { title: 'SetBanner', examples: [{ message: 'Deploys are frozen until Monday.' }] },
)

export type SetBannerBody = Static<typeof SetBanner>
