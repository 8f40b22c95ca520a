// Puts events on a bus of a cloud account.
import { Type } from 'typebox'
import type { Provider } from '../provider.ts'
import { setAtCreation } from './schemas.ts'

export const cloudEventBus: Provider = {
  id: 'cloud_event_bus',
  name: 'Cloud Event Bus',
  graphqlType: null,
  madeBy: 'rest',
  isPinged: false,
  fields: {
    cloud_region: {
      schema: Type.String({
        pattern: '^[a-z]{2}(-[a-z0-9]+){1,4}$',
        maxLength: 40,
        description: 'must be the name of a region, such as eu-west-1',
        examples: ['eu-west-1'],
      }),
      isRequired: true,
      shown: 'full',
      refuseChange: setAtCreation,
    },
    cloud_account_id: {
      schema: Type.String({
        pattern: '^\\d{12}$',
        description: 'must be 12 digits',
        examples: ['123456789012'],
      }),
      isRequired: true,
      isSecret: true,
      shown: 'masked',
      refuseChange: setAtCreation,
    },
    include_build_meta_data: {
      schema: Type.Boolean(),
      isRequired: true,
      initial: () => false,
      shown: 'full',
      feature: 'include_build_meta_data',
    },
  },
}
