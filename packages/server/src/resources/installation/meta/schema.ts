import { Type } from 'typebox'

export const Meta = Type.Object(
  {
    webhook_ips: Type.Array(Type.String(), {
      description: 'The address ranges webhooks come from, as the operator has set them.',
    }),
  },
  { title: 'Meta' },
)
