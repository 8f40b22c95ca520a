// Sends nothing: clients read the events by REST.
import type { EventName } from '../names.ts'
import type { Provider, Sender } from '../provider.ts'
import { EventNames } from './schemas.ts'

export const eventLogApi: Provider = {
  id: 'event_log_api',
  name: 'Event Log API',
  graphqlType: null,
  madeBy: 'rest',
  feature: 'event_log_api',
  isPinged: false,
  summary: 'Sends nothing: programs read the events through the API.',
  selectsBy: 'events',
  fields: {
    events: {
      label: 'Events',
      schema: EventNames,
      isRequired: true,
      initial: () => ['build.finished'],
      shown: 'full',
    },
  },
}

export const logWants: Sender['wants'] = ({ settings }, { event }) =>
  (settings['events'] as readonly EventName[]).includes(event)
