import { Type, type Static } from 'typebox'
import { boolean, integer, orNull } from '../../schema.ts'

const Ranges = Type.Union([Type.String(), Type.Null()], {
  description: 'Address ranges separated by spaces; null: requests may come from anywhere.',
})
const Days = Type.Union(
  [Type.Literal(30), Type.Literal(60), Type.Literal(90), Type.Literal(180), Type.Literal(365), Type.Null()],
  { description: 'Tokens unused for so long lose the organization; null: they never do.' },
)
const RestrictCreation = boolean('Whether only administrators may make tokens.')

export const ApiSettings = Type.Object(
  {
    url: Type.String(),
    allowed_ip_addresses: Ranges,
    revoke_inactive_tokens_after_days: orNull(
      integer('Tokens unused for so many days lose the organization; null: they never do.'),
    ),
    restrict_user_api_token_creation: RestrictCreation,
    features: Type.Object(
      {
        api_ip_allow_list: boolean('Whether `allowed_ip_addresses` may be set.'),
        inactive_api_token_revocation: boolean('Whether `revoke_inactive_tokens_after_days` may be set.'),
      },
      { description: 'Which of the settings the organization may use.' },
    ),
  },
  { title: 'ApiSettings' },
)

export const UpdateApiSettings = Type.Object(
  {
    allowed_ip_addresses: Type.Optional(Ranges),
    revoke_inactive_tokens_after_days: Type.Optional(Days),
    restrict_user_api_token_creation: Type.Optional(RestrictCreation),
    force: Type.Optional(boolean("Take ranges that lack the caller's own address. Default false.")),
  },
  {
    title: 'UpdateApiSettings',
    examples: [
      {
        allowed_ip_addresses: '127.0.0.0/8 192.0.2.0/24 2001:db8::/32',
        revoke_inactive_tokens_after_days: 90,
      },
    ],
  },
)

export type UpdateApiSettingsBody = Static<typeof UpdateApiSettings>
