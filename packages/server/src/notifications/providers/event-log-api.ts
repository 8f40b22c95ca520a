// Sends nothing: whoever wants the organization's events asks for them.
import type { Provider } from '../provider.ts'
import { EventNames } from './schemas.ts'

export const eventLogApi: Provider = {
  id: 'event_log_api',
  name: 'Event Log API',
  graphqlType: null,
  madeBy: 'rest',
  feature: 'event_log_api',
  isPinged: false,
  fields: {
    events: { schema: EventNames, isRequired: true, initial: () => ['build.finished'], shown: 'full' },
  },
}
